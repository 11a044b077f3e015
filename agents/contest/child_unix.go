//go:build unix

package contest

import (
	"os"
	"os/exec"
	"syscall"
)

// confine makes cmd the leader of a process group, so that all it starts can be ended with it.
func confine(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = !cmd.SysProcAttr.Setsid // which makes a group, too
}

// giveFrames makes the pipes of frames the files 3 and 4, so that what a program prints goes elsewhere.
func giveFrames(cmd *exec.Cmd, in, out *os.File) { cmd.ExtraFiles = []*os.File{in, out} }

// signalGroup kills p's process group and p itself, which may have left the group. With kill
// false it asks them to end. p has not been waited for, so its process ID is still valid.
func signalGroup(p *os.Process, kill bool) {
	signal := syscall.SIGTERM
	if kill {
		signal = syscall.SIGKILL
	}
	if syscall.Kill(-p.Pid, signal) != nil || kill {
		_ = p.Signal(signal)
	}
}

func shell(line string) []string { return []string{"/bin/sh", "-c", line} }
