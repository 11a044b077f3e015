package blockbattle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/env/envtest/picture"
	"blockyard/env/envtest/rulebook"
	"blockyard/env/falling"
)

// drawn makes a position from the lowest rows of the first side.
func drawn(t *testing.T, piece, picture string) *State {
	t.Helper()
	s := &State{Rules: Document, Winner: Nobody, Round: 1, Piece: uint8(strings.Index(Letters, piece))}
	s.Sides[0] = side(t, picture)
	require.NoError(t, s.Check())
	return s
}

// side makes a side from its lowest rows, as RULES.md draws boards: '#' block, '=' solid, '.' empty.
func side(t *testing.T, picture string) (d Side) {
	t.Helper()
	rulebook.Board(t, picture, Width, func(x, up int, c byte) {
		if c == '=' {
			d.Solid = max(d.Solid, uint8(up+1))
		} else {
			d.Cells.Set(x, Height-1-up)
		}
	})
	return d
}

// TestRulesExamples plays the worked examples of RULES.md, and wants one of them for every entry of its
// table of points.
func TestRulesExamples(t *testing.T) {
	book := rulebook.Open(t, ".")
	points, seen := map[string]string{}, map[string]bool{} // by rows, with " spin" after a T-spin
	for _, row := range book.Table(t, "points") {
		points[row["rows cleared at once"]] = row["points"]
		points[row["rows cleared at once"]+" spin"] = row["points with a T-spin"]
	}
	for _, row := range book.Table(t, "examples") {
		t.Run(row["case"], func(t *testing.T) {
			s := drawn(t, row["piece"], row["board"])
			d := &s.Sides[0]
			envtest.Must(fmt.Sscan(row["P c s"], &d.Points, &d.Combo, &d.Skips))
			land, end, rep := play(t, s, row["answer"])
			after := &end.Sides[0]
			require.Equal(t, row["rows"], fmt.Sprint(rep.Sides[0].Rows), "rows")
			require.Equal(t, row["gain"], fmt.Sprint(rep.Sides[0].Gain), "gain")
			require.Equal(t, row["P c s after"], fmt.Sprint(after.Points, after.Combo, after.Skips))
			require.Equal(t, row["garbage sent"], fmt.Sprint(rep.Sides[0].Lines), "garbage rows")
			require.Empty(t, rep.Losses)

			entry := row["rows"]
			if land.TSpin {
				entry += " spin"
			}
			if d.Combo == 0 && !rep.Sides[0].Cleared {
				want := row["gain"]
				if after.Skips > d.Skips {
					want += " and a skip"
				}
				require.Equal(t, points[entry], want, "the table of points")
			}
			require.Contains(t, points, entry)
			seen[entry] = true
		})
	}
	for entry, text := range points {
		require.True(t, seen[entry] || text == "impossible", "no example shows %s", entry)
	}
}

// TestRulesAnswers reads the answers of RULES.md.
func TestRulesAnswers(t *testing.T) {
	for _, row := range rulebook.Open(t, ".").Table(t, "answers") {
		tokens, _ := ParseAnswer(row["answer"], nil)
		require.Equal(t, "["+row["tokens"]+"]", fmt.Sprint(tokens), "answer %q", row["answer"])
	}
}

// TestRulesBoxes reads the boxes of RULES.md.
func TestRulesBoxes(t *testing.T) {
	rows := rulebook.Open(t, ".").Table(t, "boxes")
	require.Len(t, rows, len(Letters))
	for piece, row := range rows {
		require.Equal(t, Letters[piece:piece+1], row["piece"])
		side, list := Box(piece, 0)
		box := picture.Draw(side, side, func(x, y int) byte {
			if slices.Contains(list, falling.Cell{X: int8(x), Y: int8(y)}) {
				return '#'
			}
			return '.'
		})
		require.Equal(t, strings.Join(box, " "), row["box in orientation 0"])
	}
}
