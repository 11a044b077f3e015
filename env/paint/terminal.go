package paint

import (
	"strings"

	"blockyard/env"
)

// A terminal of 80 columns and 24 rows has these for a frame: the others are for what is above and below.
const (
	columns = 79
	lines   = 21
)

// Terminal draws f as ANSI does, or in characters alone, with more notes below its own. If the notes have no room below
// the boards, they stand to the right of them.
func Terminal(f *env.Frame, colour bool, more ...string) string {
	boards := &env.Frame{Boards: f.Boards}
	text, cell := boards.String(), 1
	if colour {
		text, cell = ANSI(boards), 2
	}
	left, wide := strings.Split(strings.TrimSuffix(text, "\n"), "\n"), 0
	for _, b := range f.Boards {
		wide += max(cell*b.W, len(b.Name)) + 1 + cell
	}
	var notes []string
	for _, note := range append(f.Notes[:len(f.Notes):len(f.Notes)], more...) {
		notes = append(notes, strings.Split(note, "  | ")...)
	}
	if len(left)+len(notes) <= lines || wide > columns/2+10 {
		return text + strings.Join(append(notes, ""), "\n")
	}
	var right []string
	for _, note := range notes {
		line := ""
		for word := range strings.FieldsSeq(note) {
			if line != "" && len([]rune(line+word)) >= columns-wide-2 {
				right, line = append(right, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		right = append(right, line)
	}
	for k := range min(len(left)-1, len(right)) { // below the names
		at := k + 1
		plain := 0 // rows of characters end with their last board
		if !colour {
			plain = wide - len([]rune(left[at]))
		}
		left[at] += strings.Repeat(" ", max(1, plain)) + right[k]
	}
	return strings.Join(append(left, right[min(len(left)-1, len(right)):]...), "\n") + "\n"
}
