package viewer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/paint"

	"github.com/stretchr/testify/require"
)

// start begins a game of a single board per seat.
func start(t *testing.T, game string, seats int) (*env.Game, env.State) {
	g, err := games.Lookup(game)
	require.NoError(t, err)
	s := g.New(seats)
	s.Reset(7)
	return g, s
}

// In Blocking nothing moves, so every seat's last piece is where it was placed, until its next one.
func TestLastMovesStay(t *testing.T) {
	g, s := start(t, "blocking", 4)
	var l LastMoves
	var p Painter
	rng := rand.New(rand.NewPCG(1, 2))
	var want [4][]int
	for turn := 0; s.Acting() != 0; turn++ {
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			seat := set.First()
			marks := p.Marks(g, s, seat)
			mark := marks[rng.IntN(len(marks))]
			m[seat], want[seat] = mark.Action, mark.Cells
		}
		l.Play(g, s, m)
		s.Step(m)
		l.Follow(s)
		for seat, mark := range l.Marks() {
			require.ElementsMatch(t, want[seat], mark.Cells, "turn %d, seat %d", turn, seat)
		}
	}
	require.NotEmpty(t, want[3])
}

// In WinTetris full rows disappear, and what is above them falls: the cells that are left of a piece fall with it.
func TestLastMovesFall(t *testing.T) {
	g, s := start(t, "wintetris", 1)
	var l LastMoves
	var p Painter
	fell := 0
	for turn := range 300 {
		marks := p.Marks(g, s, 0)
		low := slices.MaxFunc(marks, func(a, b Mark) int { return sum(a.Cells) - sum(b.Cells) }) // the lowest one
		m := env.NoMoves
		m[0] = low.Action
		rows := l.filled(s)[0]
		filled := func(x, y int) bool { return rows[y][x] == 'x' || slices.Contains(low.Cells, y*len(rows[0])+x) }
		full := func(y int) bool {
			for x := range len(rows[y]) {
				if !filled(x, y) {
					return false
				}
			}
			return true
		}
		var want, left []int // left is all that is filled after the removal
		removed := 0
		for y := len(rows) - 1; y >= 0; y-- {
			if full(y) {
				removed++
				continue
			}
			for x := range len(rows[y]) {
				k := y*len(rows[y]) + x
				if slices.Contains(low.Cells, k) {
					want = append(want, k+removed*len(rows[y]))
				}
				if filled(x, y) {
					left = append(left, k+removed*len(rows[y]))
				}
			}
		}
		l.Play(g, s, m)
		s.Step(m)
		l.Follow(s)
		if s.Acting() == 0 {
			break
		}
		var now []int
		for y, row := range l.filled(s)[0] {
			for x := range row {
				if row[x] == 'x' {
					now = append(now, y*len(row)+x)
				}
			}
		}
		if slices.Sort(left); !slices.Equal(left, now) {
			continue // the piece fell before it had reached the column
		}
		require.ElementsMatch(t, want, l.Marks()[0].Cells, "turn %d", turn)
		l.Follow(s)
		require.ElementsMatch(t, want, l.Marks()[0].Cells, "turn %d, followed twice", turn)
		if removed > 0 && len(want) > 0 {
			fell++
		}
	}
	require.Positive(t, fell, "no piece was left in part")
}

func sum(list []int) (n int) {
	for _, k := range list {
		n += k
	}
	return n
}

// palette returns both themes as variables of a style sheet: --surface, --ink1 to --ink15, --seat0 and so on.
func palette() string {
	return fmt.Sprintf(":root { %s}\n@media (prefers-color-scheme: dark) { :root { %s} }\n", css(&paint.Light), css(&paint.Dark))
}

func css(t *paint.Theme) string {
	out := fmt.Sprintf("--surface: %s; --text: %s; --muted: %s; --line: %s; --well: %s; --shade: %s; --cell: %s; ",
		t.Surface, t.Text, t.Muted, t.Line, t.Well, t.Shade, t.Ink[0])
	for k, colour := range t.Ink[1:] {
		out += fmt.Sprintf("--ink%d: %s; ", k+1, colour)
	}
	for k, colour := range t.Seat {
		out += fmt.Sprintf("--seat%d: %s; ", k, colour)
	}
	return out
}

// The style sheet has the colours of env/paint, between its first comment and its second one. With BLOCKYARD_UPDATE=1
// they are written there.
func TestPalette(t *testing.T) {
	const path = "page/style.css"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	first, _, ok := strings.Cut(string(text), "*/\n")
	require.True(t, ok)
	_, after, ok := strings.Cut(string(text), "/* and those of the page */\n")
	require.True(t, ok)
	want := first + "*/\n" + palette() + "/* and those of the page */\n" + after
	if envtest.Updating() {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "BLOCKYARD_UPDATE=1 writes the palette again")
}
