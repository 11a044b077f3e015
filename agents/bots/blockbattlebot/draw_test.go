package blockbattlebot

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/falling"
)

// draw makes a position of round 1 from two boards, each drawn by its lowest rows: '#'
// taken, '.' empty, '=' a solid row. A board without text is empty.
func draw(t testing.TB, own, opponent string) *blockbattle.State {
	t.Helper()
	s := blockbattle.Game.New(2).(*blockbattle.State)
	s.Piece = blockbattle.O
	for seat, text := range []string{own, opponent} {
		side := &s.Sides[seat]
		rows := strings.Fields(text)
		for i, row := range rows {
			require.Len(t, row, blockbattle.Width, "row %d", i)
			if row[0] == '=' {
				side.Solid++
				continue
			}
			for x, c := range row {
				if c == '#' {
					side.Cells.Set(x, blockbattle.Height-len(rows)+i)
				}
			}
		}
	}
	return s
}

// drawn is a board as text.
func drawn(f *falling.Field, solid int) string {
	var out strings.Builder
	for y := 0; y < blockbattle.Height; y++ {
		out.WriteByte('\n')
		for x := 0; x < blockbattle.Width; x++ {
			switch {
			case y >= blockbattle.Height-solid:
				out.WriteByte('=')
			case f.At(x, y):
				out.WriteByte('#')
			default:
				out.WriteByte('.')
			}
		}
	}
	return out.String()
}

// randomState is a position with random boards and stocks. Its pieces may not fit.
func randomState(r *rand.Rand) *blockbattle.State {
	s := blockbattle.Game.New(2).(*blockbattle.State)
	for i := range s.Sides {
		f, solid := randomField(r)
		s.Sides[i] = blockbattle.Side{
			Cells: f, Solid: uint8(solid), Points: r.Int31n(100), Combo: r.Int31n(10), Skips: r.Int31n(8),
			Pending: uint8(r.Intn(6)),
		}
	}
	s.Round = 1 + r.Int31n(250)
	return s
}

// children are afterstates of one decision of seat, taken from a game of random moves.
func children(t testing.TB, seed uint64, seat, rounds int) []env.State {
	t.Helper()
	s := blockbattle.Game.New(2)
	s.Reset(seed)
	r := rand.New(rand.NewSource(int64(seed)))
	var legal []env.Action
	for i := 0; i < rounds; i++ {
		before := blockbattle.Game.New(2)
		before.CopyFrom(s)
		m := env.NoMoves
		for p := 0; p < 2; p++ {
			legal = s.Legal(p, legal[:0])
			m[p] = legal[r.Intn(len(legal))]
		}
		if s.Step(m); s.Acting() == 0 {
			s = before
			break
		}
	}
	var out []env.State
	for _, a := range s.Legal(seat, nil) {
		c := blockbattle.Game.New(2)
		c.CopyFrom(s)
		if env.After(c, seat, a); c.Acting() != 0 {
			out = append(out, c)
		}
	}
	require.NotEmpty(t, out)
	return out
}
