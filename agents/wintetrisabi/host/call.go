package host

import (
	"fmt"

	"blockyard/env/wintetris"
)

// ABI is the version of the interface.
const ABI = 1

// The error codes of wt_update.
var codeNames = map[int32]string{-1: "bad handle", -2: "bad argument", -3: "internal error"}

// cells is the number of cells of a field.
const cells = wintetris.Width * wintetris.Height

// A block is wt_block: rows count from the top.
type block struct {
	size              uint32
	kind, rot, x, row int32
}

// A call holds the arguments of wt_update.
type call struct {
	cells         [cells]uint8 // the top row first
	current, next block
	fresh         bool
}

// set converts the engine's types.
func (c *call) set(f *wintetris.Field, now, next wintetris.Block, fresh bool) {
	for y := range wintetris.Height {
		row := c.cells[(wintetris.Height-1-y)*wintetris.Width:][:wintetris.Width]
		for x := range row {
			row[x] = uint8(f[y] >> x & 1)
		}
	}
	c.current, c.next, c.fresh = flat(now), flat(next), fresh
}

func flat(b wintetris.Block) block {
	return block{
		size: blockSize, kind: int32(b.Kind), rot: int32(b.Rot), x: int32(b.X),
		row: int32(wintetris.Height - int(b.Y) - wintetris.Size(b.Kind)),
	}
}

// An Answer is a negative answer: the solver refused a call or failed.
type Answer struct {
	Code int32
	Text string // of wt_last_error
}

// Error implements error.
func (a *Answer) Error() string {
	name, known := codeNames[a.Code]
	if !known {
		name = "unknown failure"
	}
	if a.Text == "" {
		return fmt.Sprintf("wt_update answered %d (%s)", a.Code, name)
	}
	return fmt.Sprintf("wt_update answered %d (%s): %s", a.Code, name, a.Text)
}
