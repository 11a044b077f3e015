//go:build !linux

package contest

import "os"

// awaitExit waits for p to end, and collects it.
func awaitExit(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	return state
}
