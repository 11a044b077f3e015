package viewer

import (
	"bytes"
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
	g := must(games.Lookup(game))
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
	for turn := 0; turn < 300 && s.Acting() != 0; turn++ {
		low := slices.MaxFunc(p.Marks(g, s, 0), func(a, b Mark) int { return sum(a.Cells) - sum(b.Cells) }) // the lowest one
		var rows [][]byte                                                                                   // p is the piece
		for y, row := range lying(&l, s) {
			rows = append(rows, []byte(row))
			for x := range row {
				if slices.Contains(low.Cells, y*len(row)+x) {
					rows[y][x] = 'p'
				}
			}
		}
		high, wide := len(rows), len(rows[0])
		rows = slices.DeleteFunc(rows, func(row []byte) bool { return !bytes.ContainsRune(row, '.') })
		removed := high - len(rows)
		after := strings.Repeat(".", removed*wide) + string(bytes.Join(rows, nil))
		var want []int
		for k := range after {
			if after[k] == 'p' {
				want = append(want, k)
			}
		}
		m := env.Alone(0, low.Action)
		l.Play(g, s, m)
		s.Step(m)
		l.Follow(s)
		if strings.Join(lying(&l, s), "") != strings.ReplaceAll(after, "p", "x") {
			continue // the piece fell before it had reached the column, or the game is over
		}
		for range 2 {
			require.ElementsMatch(t, want, l.Marks()[0].Cells, "turn %d", turn)
			l.Follow(s) // again
		}
		if removed > 0 && len(want) > 0 {
			fell++
		}
	}
	require.Positive(t, fell, "no piece was left in part")
}

// lying are the rows of the board, without a piece that is falling.
func lying(l *LastMoves, s env.State) (rows []string) {
	for _, row := range l.filled(s)[0] {
		rows = append(rows, strings.ReplaceAll(row, "?", "."))
	}
	return rows
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
	text := must(os.ReadFile(path))
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
