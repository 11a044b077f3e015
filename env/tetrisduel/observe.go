package tetrisduel

import (
	"encoding/binary"
	"fmt"

	"blockyard/env"
	"blockyard/env/falling"
)

const (
	ahead      = 8 // blocks after the current one in an observation
	numGlobals = (1+ahead)*Kinds + 7
)

var allGlobals = func() (g env.Globals) {
	for i := 0; i <= ahead; i++ {
		for _, l := range Letters {
			g.Add(env.Flag, fmt.Sprintf("block%d_%c", i, l))
		}
	}
	half := env.Range{High: HalfTurns}
	g.Add(env.Flag, "to_move")
	g.Add(env.Count, "own_points", "opponent_points")
	g.Add(half, "combo")
	g.Add(env.Flag, "battle_cleared")
	g.Add(half, "half_turns_left")
	g.Add(env.Flag, "first")
	return g
}()

// Observe implements env.State.
func (s *State) Observe(seat int, planes []uint8, globals []float32) {
	paint(planes, &s.Cells, seat == 1)
	globals = globals[:numGlobals]
	for i := range globals {
		globals[i] = 0
	}
	for i := 0; i <= ahead && int(s.Turn)+i <= HalfTurns; i++ {
		globals[i*Kinds+s.Block(int(s.Turn)+i)] = 1
	}
	rest := globals[(1+ahead)*Kinds:]
	if s.Acting().Has(seat) {
		rest[0] = 1
	}
	rest[1], rest[2] = float32(s.Points[seat]), float32(s.Points[1-seat])
	rest[3] = float32(s.Combo)
	if s.Flag {
		rest[4] = 1
	}
	rest[5] = float32(HalfTurns - s.Turn + 1)
	rest[6] = float32(1 - seat)
}

// paint writes the board row by row, one byte per cell, from the end if turned. Eight rows of eight columns are a word
// with one byte per column, whose lowest bits are a row's eight bytes.
func paint(planes []uint8, board *falling.Field, turned bool) {
	planes = planes[:Width*Height]
	c, at, step := *board, 0, Width
	if turned {
		for x := 0; x < Width/2; x++ {
			c[x], c[Width-1-x] = c[Width-1-x], c[x]
		}
		at, step = Width*(Height-1), -Width
	}
	for y := uint(0); y < Height; y += 8 {
		block := c[0]>>y&0xFF | c[1]>>y&0xFF<<8 | c[2]>>y&0xFF<<16 | c[3]>>y&0xFF<<24 |
			c[4]>>y&0xFF<<32 | c[5]>>y&0xFF<<40 | c[6]>>y&0xFF<<48 | c[7]>>y&0xFF<<56
		edge := c[8]>>y&0xFF | c[9]>>y&0xFF<<8
		for i := y; i < y+8 && i < Height; i++ {
			row := planes[at : at+Width : at+Width]
			binary.LittleEndian.PutUint64(row, block&0x0101010101010101)
			binary.LittleEndian.PutUint16(row[8:], uint16(edge&0x0101))
			block, edge, at = block>>1, edge>>1, at+step
		}
	}
}
