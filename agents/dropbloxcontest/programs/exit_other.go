//go:build !linux

package programs

import "os/exec"

// awaitExit waits for cmd to exit.
func awaitExit(cmd *exec.Cmd) { _, _ = cmd.Process.Wait() }
