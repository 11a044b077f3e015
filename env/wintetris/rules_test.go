package wintetris

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/rulebook"
)

// scene returns an engine with a piece that has just appeared over the lowest rows of a board.
func scene(t *testing.T, piece, picture string) *Engine {
	t.Helper()
	e := &Engine{}
	e.Force([]uint16{uint16(strings.Index(Letters, piece)), 3})
	e.Start(1)
	rulebook.Board(t, picture, Width, func(x, up int, _ byte) { e.Field.Set(x, up) })
	require.Equal(t, Running, e.Over)
	return e
}

// answers reads ticks such as "cw+left wait*3".
func answers(t *testing.T, text string) (out []Bits) {
	t.Helper()
	names := map[string]Bits{"left": Left, "right": Right, "cw": CW, "ccw": CCW, "drop": Drop, "wait": 0}
	for _, word := range rulebook.Words(t, text) {
		bits := Bits(0)
		for _, name := range strings.Split(word, "+") {
			bit, known := names[name]
			require.True(t, known, name)
			bits |= bit
		}
		out = append(out, bits)
	}
	return out
}

// TestRulesExamples plays the worked examples of RULES.md, and compares its table of points.
func TestRulesExamples(t *testing.T) {
	book := rulebook.Open(t, ".")
	for _, row := range book.Table(t, "ticks") {
		e := scene(t, row["piece"], "..........")
		locked := false
		for _, bits := range answers(t, row["answers"]) {
			require.False(t, locked, "%v: the piece has locked", row)
			locked = e.Tick(bits)
		}
		b := e.Piece
		if locked { // the cells are in the field, and the next piece is in play
			b = Block{Kind: uint8(strings.Index(Letters, row["piece"]))}
			_, err := fmt.Sscan(row["rotation, x, y afterwards"], &b.Rot, &b.X, &b.Y)
			require.NoError(t, err)
			var field Field
			field.Put(b)
			require.Equal(t, field, e.Field, "%v", row)
		}
		require.Equal(t, []string{row["rotation, x, y afterwards"], row["conflicts"], row["blocked"], row["locked"]},
			[]string{fmt.Sprint(b.Rot, b.X, b.Y), fmt.Sprint(e.Conflicts), fmt.Sprint(e.Blocked),
				map[bool]string{true: "yes", false: "no"}[locked]}, "%v", row)
	}
	points := book.Table(t, "points")[0]
	shown := map[int]bool{}
	for _, row := range book.Table(t, "examples") {
		e := scene(t, row["piece"], row["board"])
		e.Lines = int32(rulebook.Number(t, row["lines before"]))
		before := *e
		for _, bits := range answers(t, row["answers"]) {
			e.Tick(bits)
		}
		rows := int(e.Lines - before.Lines)
		shown[rows] = true
		require.Equal(t, []string{row["lines"], row["points"], row["level afterwards"]},
			[]string{fmt.Sprint(e.Lines), fmt.Sprint(e.Points), fmt.Sprint(e.Level())}, "%v", row)
		require.EqualValues(t, e.Points, rulebook.Number(t, points[fmt.Sprint(rows)])*before.Level())
	}
	require.Len(t, shown, 5, "want an example of every number of rows")
}
