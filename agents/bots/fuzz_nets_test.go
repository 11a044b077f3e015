package bots

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
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
		require.NoError(f, mlp.Write(&b, toybot.RandomNet(f, 1, len(set.Names), 3, 1), e.Facts(g, nil)))
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
