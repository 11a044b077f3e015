package wintetris

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
)

// What Mark draws is what the action fills, also on a stack so tall that the piece is stopped on its way.
func TestMarkIsWhatAnActionFills(t *testing.T) {
	for _, g := range []*env.Game{Game, InstantGame} {
		stopped := 0
		for seed := range uint64(30) {
			s := g.New(1).(*State)
			s.Reset(seed)
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
	var f env.Frame
	s.Show(&f)
	f.Boards[0].Unghost()
	s.Mark(&f, 0, a)
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
