//go:build unix

package host

import (
	"os"
	"os/exec"
	"syscall"
)

// The child's ends have numbers of their own, so that what a library prints goes elsewhere.
const (
	childIn  = 3
	childOut = 4
)

func givePipes(cmd *exec.Cmd, in, out *os.File) {
	cmd.ExtraFiles = []*os.File{in, out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func childPipes() (in, out *os.File, err error) {
	for _, fd := range []int{childIn, childOut} {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(childIn, "requests"), os.NewFile(childOut, "answers"), nil
}

// kill ends a process that has not been waited for, and all it started.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
