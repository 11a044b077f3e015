//go:build unix

package programs

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the head of a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// askGroup asks cmd and all it started to end, killGroup ends them.
func askGroup(cmd *exec.Cmd)  { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
