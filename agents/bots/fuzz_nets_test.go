package bots

import (
	"bytes"
	"slices"
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
	fits := slices.DeleteFunc(slices.Clone(games.All), func(g *env.Game) bool { return Features(g) == nil })
	var files [][]byte
	for which, g := range fits {
		var b bytes.Buffer
		require.NoError(f, mlp.Write(&b, toybot.RandomNet(f, 1, len(Features(g).Names), 3, 1), Of(g).Facts(g, nil)))
		files = append(files, b.Bytes())
		f.Add(uint8(which), []byte{})
		last := b.Len() - 1
		f.Add(uint8(which), []byte{byte(last >> 8), byte(last), 0x7f, byte((last - 4) >> 8), byte(last - 4), 0xff})
	}
	f.Fuzz(func(t *testing.T, which uint8, patch []byte) {
		g, file := fits[int(which)%len(fits)], bytes.Clone(files[int(which)%len(fits)])
		for ; len(patch) >= 3; patch = patch[3:] {
			file[(int(patch[0])<<8|int(patch[1]))%len(file)] = patch[2]
		}
		came := func(string) ([]byte, error) { return file, nil }
		factory, err := New(g, Foreign("learned:weights="+ContentName(file), came))
		if err != nil {
			return
		}
		a, err := factory(1)
		require.NoError(t, err)
		walk(t, g, begun(g, g.MinSeats, 1), 3, func(view env.State, seat, _ int) env.Action { return act(t, a, view, seat) })
	})
}
