package paint

import (
	"strconv"
	"strings"

	"blockyard/env"
)

// ANSI draws the boards of f side by side, each cell two columns wide, and its notes below.
func ANSI(f *env.Frame) string {
	var out strings.Builder
	rows := 0
	for _, b := range f.Boards {
		rows = max(rows, b.H)
	}
	for y := -1; y < rows; y++ { // row -1 holds the names
		for i := range f.Boards {
			b := &f.Boards[i]
			switch {
			case y < 0:
				out.WriteString(b.Name + strings.Repeat(" ", max(0, 2*b.W-len(b.Name))))
			case y >= b.H:
				out.WriteString(strings.Repeat(" ", 2*b.W))
			default:
				row(&out, b, y)
			}
			out.WriteString("   ")
		}
		out.WriteByte('\n')
	}
	for _, n := range f.Notes {
		out.WriteString(n + "\n")
	}
	return out.String()
}

// row draws row y of b: a cell with an ink in reverse video, an empty one in the ink of its glyph.
func row(out *strings.Builder, b *env.Board, y int) {
	for _, c := range b.Cells[y*b.W : (y+1)*b.W] {
		text := string([]byte{c.Glyph(), ' '})
		switch {
		case c.Ink == 0:
		case c.Kind == env.CellEmpty || c.Kind == env.CellZone:
			text = "\x1b[38;5;" + strconv.Itoa(terminal[c.Ink&15]) + "m" + text + "\x1b[0m"
		default:
			text = "\x1b[7;38;5;" + strconv.Itoa(terminal[c.Ink&15]) + "m" + text + "\x1b[0m"
		}
		out.WriteString(text)
	}
}
