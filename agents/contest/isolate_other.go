//go:build !linux

package contest

import (
	"os"
	"os/exec"

	"blockyard/agents/contest/cage"
)

// Elsewhere than on Linux, an isolated program is ended with its process group, and what has left the group may remain.
type isolation struct{}

func isolate(*exec.Cmd, bool) isolation { return isolation{} }

func isolateIn(*exec.Cmd, *cage.Cage, string) (isolation, error) { return isolation{}, nil }

func executable(*exec.Cmd) bool { return true }

func startLocked(cmd *exec.Cmd, exited func(*os.ProcessState)) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { exited(awaitExit(cmd.Process)) }()
	return nil
}

func (isolation) sweep() {}
