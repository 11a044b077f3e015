package contest

import (
	"os"
	"syscall"
)

// awaitExit waits for p to end without collecting it, so that its process ID stays valid until
// its group has been killed.
func awaitExit(p *os.Process) *os.ProcessState {
	const byPid = 1 // P_PID of waitid
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_WAITID, byPid, uintptr(p.Pid), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if e != syscall.EINTR {
			return nil
		}
	}
}
