package contest

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit waits for p to end without collecting it, so that its process ID stays valid until
// its group has been killed.
func awaitExit(p *os.Process) *os.ProcessState {
	for unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	return nil
}
