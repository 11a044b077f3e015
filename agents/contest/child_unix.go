//go:build unix

package contest

import (
	"os"
	"os/exec"
	"runtime"
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

// mostResident is the most memory that a process, or one that it has waited for, has had, in bytes. It is 0 if that is
// less than what this process has had: until it becomes another program, a new process has the memory of this one.
func mostResident(state *os.ProcessState) int64 {
	var own syscall.Rusage
	used, ok := state.SysUsage().(*syscall.Rusage)
	if !ok || runtime.GOOS != "linux" || syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil || used.Maxrss <= own.Maxrss {
		return 0
	}
	return int64(used.Maxrss) << 10
}

func shell(line string) []string { return []string{"/bin/sh", "-c", line} }
