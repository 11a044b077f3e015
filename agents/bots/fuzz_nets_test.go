package bots

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/games"
)

// FuzzNet reads a file of weights with bytes changed, of every game: refused, or a network that plays legal actions,
// whatever numbers it computes. A patch is a list of places (two bytes) and what is put there.
func FuzzNet(f *testing.F) {
	type subject struct {
		game *env.Game
		file []byte
	}
	var all []subject
	for _, g := range games.All {
		e := Of(g)
		set := e.FeaturesOf(g)
		if set == nil {
			continue
		}
		var b bytes.Buffer
		require.NoError(f, mlp.Write(&b, weighted(f, len(set.Names)), e.Facts(g, nil)))
		all = append(all, subject{g, b.Bytes()})
	}
	for which, s := range all {
		f.Add(uint8(which), []byte{})
		last := len(s.file) - 1
		f.Add(uint8(which), []byte{byte(last >> 8), byte(last), 0x7f, byte((last - 4) >> 8), byte(last - 4), 0xff})
	}
	f.Fuzz(func(t *testing.T, which uint8, patch []byte) {
		s := all[int(which)%len(all)]
		file := bytes.Clone(s.file)
		for ; len(patch) >= 3; patch = patch[3:] {
			file[(int(patch[0])<<8|int(patch[1]))%len(file)] = patch[2]
		}
		came := func(string) ([]byte, error) { return file, nil }
		factory, err := New(s.game, Foreign("learned:weights="+ContentName(file), came))
		if err != nil {
			return
		}
		a, err := factory(1)
		require.NoError(t, err)
		state := s.game.New(s.game.MinSeats)
		state.Reset(1)
		for range 3 {
			m := env.NoMoves
			for set := state.Acting(); set != 0; set = set.Rest() {
				seat := set.First()
				m[seat], err = a.Act(context.Background(), state, seat)
				require.NoError(t, err)
				require.Contains(t, state.Legal(seat, nil), m[seat])
			}
			state.Step(m)
		}
	})
}

// weighted is a network with one hidden layer whose weights are all different.
func weighted(t testing.TB, in int) *mlp.Net {
	numbers := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(i%7)/8 - 0.3
		}
		return out
	}
	n, err := mlp.New([]mlp.Layer{{In: in, Out: 3, W: numbers(3 * in), B: numbers(3)}, {In: 3, Out: 1, W: numbers(3), B: numbers(1)}})
	require.NoError(t, err)
	require.NoError(t, features.Check(n, in))
	return n
}
