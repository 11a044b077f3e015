package tetrisduellog

import (
	"fmt"
	"strconv"
	"strings"

	"blockyard/env"
	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

// rowDigits is the number of hex digits of a board's row.
const rowDigits = 3

// parseBoard reads a board.
func parseBoard(text string) (falling.Field, error) {
	var f falling.Field
	if len(text) != rowDigits*tetrisduel.Height {
		return f, fmt.Errorf("a board of %d digits, want %d", len(text), rowDigits*tetrisduel.Height)
	}
	for y := 0; y < tetrisduel.Height; y++ {
		digits := text[rowDigits*y : rowDigits*(y+1)]
		row, err := strconv.ParseUint(digits, 16, 16)
		if err != nil {
			return f, fmt.Errorf("board row %d: %q, want %d hex digits", y, digits, rowDigits)
		}
		if row>>tetrisduel.Width != 0 {
			return f, fmt.Errorf("board row %d: %x is wider than %d cells", y, row, tetrisduel.Width)
		}
		for x := 0; x < tetrisduel.Width; x++ {
			if row>>x&1 != 0 {
				f.Set(x, y)
			}
		}
	}
	return f, nil
}

// boardText is the inverse of parseBoard, in lower case.
func boardText(f *falling.Field) string {
	var b strings.Builder
	for y := 0; y < tetrisduel.Height; y++ {
		row := 0
		for x := 0; x < tetrisduel.Width; x++ {
			if f.At(x, y) {
				row |= 1 << x
			}
		}
		fmt.Fprintf(&b, "%03x", row)
	}
	return b.String()
}

// listText is a list of placements in the order of the contest.
func listText(ids []env.Action) string {
	var b strings.Builder
	for i, p := range tetrisduel.Ordered(ids) {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%x%d%d", p.Y, p.X, p.D)
	}
	return b.String()
}

// parsePlacement reads [y, x, d].
func parsePlacement(v []int) (tetrisduel.Placement, error) {
	if len(v) != 3 || v[0] < 0 || v[0] >= tetrisduel.Reachable || v[1] < 0 || v[1] >= tetrisduel.Width ||
		v[2] < 0 || v[2] >= tetrisduel.Directions {
		return tetrisduel.Placement{}, fmt.Errorf("placement %v: want [y, x, d] with y 0..14, x 0..9, d 0..3", v)
	}
	return tetrisduel.Placement{Y: v[0], X: v[1], D: v[2]}, nil
}

// kindOf checks the number of a block, 1..7, and returns it from 0.
func kindOf(block int) (int, error) {
	if block < 1 || block > tetrisduel.Kinds {
		return 0, fmt.Errorf("block %d: want 1 to %d", block, tetrisduel.Kinds)
	}
	return block - 1, nil
}

func placementText(a env.Action) string {
	if a == env.None {
		return "none"
	}
	p := tetrisduel.At(a)
	return fmt.Sprint([]int{p.Y, p.X, p.D})
}
