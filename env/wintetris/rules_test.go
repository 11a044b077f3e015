package wintetris

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
)

// scene returns an engine with a piece that has just appeared over the lowest rows of a board.
func scene(t *testing.T, piece, picture string) *Engine {
	e := &Engine{}
	e.Force([]uint16{uint16(strings.Index(Letters, piece)), 3})
	e.Start(1)
	rulebook.Board(t, picture, Width, func(x, up int, _ byte) { e.Field.Set(x, up) })
	require.Equal(t, Running, e.Over)
	return e
}

// answers reads ticks such as "cw+left wait*3".
func answers(t *testing.T, text string) (out []Bits) {
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
			envtest.Must(fmt.Sscan(row["rotation, x, y afterwards"], &b.Rot, &b.X, &b.Y))
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

// What Mark draws is what the action fills, also on a stack so tall that the piece is stopped on its way.
func TestMarkIsWhatAnActionFills(t *testing.T) {
	for _, g := range []*env.Game{Game, InstantGame} {
		stopped := 0
		for seed := range uint64(30) {
			s := envtest.Start[*State](g, 1, seed)
			for r := rand.New(rand.NewPCG(seed, 1)); s.Over == Running; {
				legal := s.Legal(0, nil)
				for _, a := range legal {
					if rest, ok := filled(s, a); ok {
						require.Equal(t, rest, marked(s, a), "%s seed %d piece %d %s", g.Name, seed, s.Pieces, g.Text(a))
						if !slices.Equal(rest, cellsOf(s.Field.Fall(target(s.Piece, a)))) {
							stopped++
						}
					}
				}
				s.Step(env.Moves{legal[r.IntN(len(legal))]})
			}
		}
		require.Equal(t, g == Game, stopped > 0, "%s: %d pieces were stopped on their way", g.Name, stopped)
	}
}

// marked returns the cells that Mark draws, row by row from the top.
func marked(s *State, a env.Action) (out []int) {
	f := envtest.Frame(s)
	f.Boards[0].Unghost()
	s.Mark(f, 0, a)
	for k, c := range f.Boards[0].Cells {
		if c.Kind == env.CellGhost {
			out = append(out, k)
		}
	}
	return out
}

// filled returns the cells that an action fills; ok is false if it clears rows or ends the game.
func filled(s *State, a env.Action) (out []int, ok bool) {
	after := *s
	after.Step(env.Moves{a})
	for k := range Width * Height {
		if x, y := k%Width, Height-1-k/Width; after.Field.At(x, y) && !s.Field.At(x, y) {
			out = append(out, k)
		}
	}
	return out, after.Lines == s.Lines && after.Over == Running
}

// cellsOf returns the cells of a block within the field, row by row from the top.
func cellsOf(b Block) (out []int) {
	for _, c := range b.Cells() {
		out = append(out, (Height-1-int(c[1]))*Width+int(c[0]))
	}
	slices.Sort(out)
	return out
}
