package main

import (
	"fmt"
	"io"
	"strings"

	"blockyard/env"
)

// palette gives a terminal colour (of 256) to every ink of a frame.
var palette = [16]int{0, 44, 27, 208, 220, 40, 129, 196, 245, 238, 201, 51, 118, 214, 99, 231}

const (
	clearScreen = "\x1b[H\x1b[2J"
	altScreen   = "\x1b[?1049h\x1b[?25l"
	mainScreen  = "\x1b[?25h\x1b[?1049l"
	plainText   = "\x1b[0m"
	boldText    = "\x1b[1m"
	faintText   = "\x1b[2m"
)

// paintFrame writes a frame in colour, a cell two characters wide.
func paintFrame(w io.Writer, f *env.Frame) {
	rows := 0
	for i := range f.Boards {
		rows = max(rows, f.Boards[i].H)
		fmt.Fprintf(w, "%s%-*s%s   ", boldText, 2*f.Boards[i].W, f.Boards[i].Name, plainText)
	}
	fmt.Fprint(w, "\n")
	for y := range rows {
		var line strings.Builder
		for i := range f.Boards {
			b := &f.Boards[i]
			for x := range b.W {
				if y >= b.H {
					line.WriteString("  ")
					continue
				}
				line.WriteString(cell(b.Cells[y*b.W+x], b.Ink[y*b.W+x]))
			}
			line.WriteString("   ")
		}
		fmt.Fprintln(w, line.String())
	}
	for _, n := range f.Notes {
		fmt.Fprintln(w, n)
	}
}

// cell is one cell in colour: empty cells a faint dot, a piece's ghost (its letter in lower
// case, and no game has a piece x) an outline, everything else a block.
func cell(glyph byte, ink uint8) string {
	colour := palette[ink%uint8(len(palette))]
	switch {
	case glyph == '.':
		return faintText + "· " + plainText
	case ink == 0:
		return string([]byte{glyph, glyph})
	case glyph >= 'a' && glyph <= 'w' || glyph == 'y' || glyph == 'z':
		return fmt.Sprintf("\x1b[38;5;%dm[]%s", colour, plainText)
	}
	return fmt.Sprintf("\x1b[48;5;%dm  %s", colour, plainText)
}
