package programs

import (
	"errors"
	"os/exec"

	"golang.org/x/sys/unix"
)

// awaitExit waits for cmd to exit and leaves it to be collected, so that its number still
// is its own when its group is killed.
func awaitExit(cmd *exec.Cmd) {
	for errors.Is(unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
}
