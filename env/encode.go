package env

import (
	"encoding/binary"
	"fmt"
)

// Encode appends s as bytes: its fields in order, little-endian, without padding. The bytes
// are valid for one version of Game.Rules.
func Encode(dst []byte, s State) ([]byte, error) {
	dst, err := binary.Append(dst, binary.LittleEndian, s)
	if err != nil {
		return dst, fmt.Errorf("encode %T: %w", s, err)
	}
	return dst, nil
}

// EncodedLen returns how many bytes Encode appends for s.
func EncodedLen(s State) int { return binary.Size(s) }

// Decode sets s to the position that Encode wrote. It returns an error, and leaves s
// unchanged, if src has the wrong length or Check refuses the position. scratch is a State of
// the same type to decode into.
func Decode(s, scratch State, src []byte) error {
	if want := binary.Size(s); len(src) != want {
		return fmt.Errorf("decode %T: %d bytes, want %d", s, len(src), want)
	}
	if _, err := binary.Decode(src, binary.LittleEndian, scratch); err != nil {
		return fmt.Errorf("decode %T: %w", s, err)
	}
	if err := scratch.Check(); err != nil {
		return fmt.Errorf("decode %T: %w", s, err)
	}
	s.CopyFrom(scratch)
	return nil
}
