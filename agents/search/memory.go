package search

import (
	"encoding/binary"
	"fmt"
)

// Random and First can go on elsewhere: they are vec.Resumable.

// AppendMemory appends the state of the generator.
func (r *Random) AppendMemory(dst []byte) ([]byte, error) {
	return binary.LittleEndian.AppendUint64(dst, r.rand.Word), nil
}

// RestoreMemory reads what AppendMemory wrote.
func (r *Random) RestoreMemory(src []byte) error {
	if len(src) != 8 {
		return fmt.Errorf("random: memory of %d bytes, want 8", len(src))
	}
	r.rand.Seed(binary.LittleEndian.Uint64(src))
	return nil
}

// AppendMemory appends nothing: every choice follows from the position.
func (f *First) AppendMemory(dst []byte) ([]byte, error) { return dst, nil }

// RestoreMemory reads what AppendMemory wrote.
func (f *First) RestoreMemory(src []byte) error {
	if len(src) != 0 {
		return fmt.Errorf("first: memory of %d bytes, want none", len(src))
	}
	return nil
}
