package handles

import (
	"fmt"

	"blockyard/env/wintetris"
)

// Cells is the number of cells of a field.
const Cells = wintetris.Width * wintetris.Height

// A Block is a piece in the caller's terms: the left column and top row of its box. Rows count
// from the top.
type Block struct{ Kind, Rotation, X, Y int32 }

// A Request holds the arguments of Update: the settled cells, row by row from the top, 0 for
// empty; the piece in play and the next one.
type Request struct {
	Cells         [Cells]uint8
	Current, Next Block
	NewPiece      bool
}

// position converts the request to the engine's types, or says what is wrong with it.
func (q *Request) position() (f wintetris.Field, now, next wintetris.Block, err error) {
	for i, c := range q.Cells {
		if c != 0 {
			f.Set(i%wintetris.Width, wintetris.Height-1-i/wintetris.Width)
		}
	}
	if now, err = q.Current.inside("current"); err == nil {
		next, err = q.Next.inside("next")
	}
	return f, now, next, err
}

// inside converts the block to the engine's type. The block must be within the walls and the
// floor, and at most the height of its box above the field.
func (b Block) inside(name string) (wintetris.Block, error) {
	var empty wintetris.Field
	switch {
	case b.Kind < 0 || b.Kind >= wintetris.Kinds:
		return wintetris.Block{}, fmt.Errorf("%s: kind %d: want 0 to %d", name, b.Kind, wintetris.Kinds-1)
	case b.Rotation < 0 || b.Rotation >= wintetris.Rotations:
		return wintetris.Block{}, fmt.Errorf("%s: rotation %d: want 0 to %d", name, b.Rotation, wintetris.Rotations-1)
	}
	size := int32(wintetris.Size(uint8(b.Kind)))
	if b.X < -size || b.X > wintetris.Width || b.Y < -size || b.Y > wintetris.Height {
		return wintetris.Block{}, fmt.Errorf("%s: x %d, y %d: outside the field", name, b.X, b.Y)
	}
	out := wintetris.Block{
		Kind: uint8(b.Kind), Rot: uint8(b.Rotation), X: int8(b.X), Y: int8(wintetris.Height - b.Y - size),
	}
	if !empty.Fits(out) {
		return out, fmt.Errorf("%s: kind %d, rotation %d, x %d, y %d reaches through a wall or the floor",
			name, b.Kind, b.Rotation, b.X, b.Y)
	}
	return out, nil
}
