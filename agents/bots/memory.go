package bots

import "fmt"

// A pooledAgent can go on elsewhere: it is a vec.Resumable without a memory, because its searches carry
// nothing over from one choice to the next.

// AppendMemory appends nothing. It returns an error if the agent has a time limit.
func (a *pooledAgent) AppendMemory(dst []byte) ([]byte, error) {
	if a.limit > 0 {
		return dst, fmt.Errorf("its choices depend on the clock (time=%v), so no other run can repeat them: "+
			"limit its search by an option such as ply or width instead", a.limit)
	}
	return dst, nil
}

// RestoreMemory reads what AppendMemory wrote.
func (a *pooledAgent) RestoreMemory(src []byte) error {
	if len(src) != 0 {
		return fmt.Errorf("a search with a memory of %d bytes, want none", len(src))
	}
	return nil
}
