//go:build !linux

package contest

import (
	"os"
	"os/exec"
)

// Elsewhere than on Linux, an isolated program is ended with its process group, and what has left the group may remain.
type isolation struct{}

func isolate(*exec.Cmd, bool) isolation { return isolation{} }

func startLocked(cmd *exec.Cmd, exited func(*os.ProcessState)) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { exited(awaitExit(cmd.Process)) }()
	return nil
}

func (isolation) sweep() {}
