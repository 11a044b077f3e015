//go:build !unix

package programs

import "os/exec"

func ownGroup(*exec.Cmd) {}

func askGroup(cmd *exec.Cmd)  { _ = cmd.Process.Kill() }
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
