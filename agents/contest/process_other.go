//go:build !unix

package contest

import "os/exec"

func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func shell(line string) []string { return []string{"cmd", "/C", line} }
