//go:build unix

package contest

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the head of a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends cmd and all it started. cmd has not been waited for, so that its number
// still is its own.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func shell(line string) []string { return []string{"/bin/sh", "-c", line} }
