package wintetrisbot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"blockyard/env/wintetris"
)

// An Agent can go on elsewhere: it is a vec.Resumable. In wintetris:tick its memory is what its solver knows of
// the piece in play, in little-endian order: number of parts rated and index of the best place (2 bytes each; 0xFFFF
// is none), its value (8), kind of the piece (1), and rotation, column and row of every place (3). In the
// other games every choice follows from the position, so that it has none.

const (
	placesAt = 13 // offset of the first place
	placeLen = 3
)

// AppendMemory appends what the solver knows of the piece in play.
func (a *Agent) AppendMemory(dst []byte) ([]byte, error) {
	s := a.solver
	if !a.ticks {
		return dst, nil
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(s.part))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(s.best))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.value))
	dst = append(dst, s.moves[0].Kind)
	for _, m := range s.moves[:s.n] {
		dst = append(dst, m.Rot, uint8(m.X), uint8(m.Y))
	}
	return dst, nil
}

// RestoreMemory reads what AppendMemory wrote.
func (a *Agent) RestoreMemory(src []byte) error {
	s := a.solver
	if len(src) == 0 {
		return nil
	}
	n := (len(src) - placesAt) / placeLen
	if len(src) < placesAt || len(src) != placesAt+n*placeLen || n > wintetris.MaxMoves {
		return fmt.Errorf("solver: memory of %d bytes, want 0, or %d and %d for each of up to %d places",
			len(src), placesAt, placeLen, wintetris.MaxMoves)
	}
	part, best := int(binary.LittleEndian.Uint16(src)), int(int16(binary.LittleEndian.Uint16(src[2:])))
	if part > s.parts || best < -1 || best >= n {
		return fmt.Errorf("solver: memory with %d parts rated and place %d the best, want up to %d and -1 to %d",
			part, best, s.parts, n-1)
	}
	var moves [wintetris.MaxMoves]wintetris.Block
	for i := range moves[:n] {
		p := src[placesAt+i*placeLen:]
		m := wintetris.Block{Kind: src[placesAt-1], Rot: p[0], X: int8(p[1]), Y: int8(p[2])}
		if m.Kind >= wintetris.Kinds || m.Rot >= wintetris.Rotations || m.Y > wintetris.Height ||
			!new(wintetris.Field).Fits(m) {
			return errors.New("solver: memory with a place outside of the field")
		}
		moves[i] = m
	}
	if n == 0 && src[placesAt-1] >= wintetris.Kinds {
		return fmt.Errorf("solver: memory of a piece of kind %d, want 0 to %d", src[placesAt-1], wintetris.Kinds-1)
	}
	s.part, s.best, s.n, s.moves = part, best, n, moves
	s.value = math.Float64frombits(binary.LittleEndian.Uint64(src[4:]))
	s.moves[0].Kind = src[placesAt-1]
	a.ticks = true
	return nil
}
