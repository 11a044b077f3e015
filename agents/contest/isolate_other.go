//go:build !linux

package contest

import (
	"os"
	"os/exec"
)

// Elsewhere than on Linux, an isolated program is ended with its process group, and what has left the group may remain.
type isolation struct{}

func isolate(*exec.Cmd, bool) isolation { return isolation{} }

func isolateIn(cmd *exec.Cmd, in Cage, memory int64) (isolation, Guest, error) {
	guest, _, err := in.Enclose(cmd, nil, memory)
	return isolation{}, guest, err
}

func executable(*exec.Cmd) bool { return true }

func startLocked(cmd *exec.Cmd, exited func(*os.ProcessState)) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { exited(awaitExit(cmd.Process)) }()
	return nil
}

func (isolation) sweep() {}

// awaitExit waits for p to end, and collects it.
func awaitExit(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	return state
}

// usage returns 0: what a program uses is known on Linux only.
func usage(int) (memory int64, threads int) { return 0, 0 }
