// Package ansi is the way to a terminal: it paints a Frame in 256 colours, and makes text harmless.
//
// Much of what the programs print is written by others: names in records, the language that a submission claims, the
// standard error of a bot, the errors of a server or worker. Control sequences in it could rewrite what stands above,
// set the title, write to the clipboard, or make the terminal answer as if the user had typed, perhaps only when
// somebody prints a log. A call at every place that prints foreign text would have to be remembered at each. Instead,
// the standard streams of the programs (package program) and the logs of games are Writers, and what the programs style
// themselves is written to Styled, the only way around one; env/once_test.go says who may use it and the streams. What
// a Writer cannot know is where a foreign text ends: a name or a reason goes through Plain, so that it cannot forge
// another line of a table.
package ansi

import (
	"strconv"
	"strings"

	"blockyard/env"
)

// palette is the terminal colour of each ink; ink 0, the background, keeps the terminal's own.
var palette = [16]int{0, 51, 21, 208, 226, 46, 201, 196, 250, 240, 33, 213, 118, 220, 99, 15}

// Frame paints the boards of f side by side, each cell two columns wide, and its notes below.
func Frame(f *env.Frame) string {
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

// row paints row y of b: a cell with an ink in reverse video, an empty one in the ink of its glyph.
func row(out *strings.Builder, b *env.Board, y int) {
	for _, c := range b.Cells[y*b.W : (y+1)*b.W] {
		text := string([]byte{c.Glyph(), ' '})
		switch {
		case c.Ink == 0:
		case c.Kind == env.CellEmpty || c.Kind == env.CellZone:
			text = "\x1b[38;5;" + strconv.Itoa(palette[c.Ink&15]) + "m" + text + "\x1b[0m"
		default:
			text = "\x1b[7;38;5;" + strconv.Itoa(palette[c.Ink&15]) + "m" + text + "\x1b[0m"
		}
		out.WriteString(text)
	}
}
