package bundle

import (
	"math/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/dropbloxbot"
	"blockyard/agents/mlp"
	"blockyard/env/dropblox"
)

// dropbloxNet is a net of random weights, of the sizes that are trained.
func dropbloxNet(t *testing.T) *mlp.Net {
	t.Helper()
	r := rand.New(rand.NewSource(3))
	var layers []mlp.Layer
	in := dropbloxbot.Len
	for _, out := range []int{32, 1} {
		l := mlp.Layer{In: in, Out: out, B: make([]float32, out)}
		for range in * out {
			l.W = append(l.W, float32(r.NormFloat64()/8))
		}
		layers, in = append(layers, l), out
	}
	net, err := mlp.New(layers)
	require.NoError(t, err)
	return net
}

// With no time left a bundled bot does without a look at the blocks to come, and then plays
// as the same search does in this program.
func TestBundledDropbloxBotsPlayLikeTheirTwins(t *testing.T) {
	for _, net := range []*mlp.Net{nil, dropbloxNet(t)} {
		b, err := Bot{Game: "dropblox", Net: net}.Write()
		require.NoError(t, err)
		t.Logf("%d characters, %d bits a weight", len(b.Source), b.Bits)
		var r dropbloxbot.Rater = &dropbloxbot.Hand{Weights: dropbloxbot.Classic}
		if net != nil {
			rounded, err := Rounded(net, b.Bits)
			require.NoError(t, err)
			r, err = dropbloxbot.NewLearned(rounded)
			require.NoError(t, err)
		}
		exe := filepath.Join(t.TempDir(), "dropblox_ai")
		require.NoError(t, Check(t.Context(), b.Source, exe))
		twin := dropbloxbot.NewBeam(r)
		got, err := ReplayDropblox(t.Context(), []string{exe}, "0", func(s *dropblox.State, commands []dropblox.Command) {
			at, ok := twin.Fit(dropbloxbot.Of(s), time.Time{}.Add(1))
			require.True(t, ok)
			want, err := s.Path(at.Action(), nil)
			require.NoError(t, err)
			require.Equal(t, want, commands, "turn %d", s.Turns)
		})
		require.NoError(t, err)
		require.Equal(t, 2, got.Logs)
		require.Greater(t, got.Answers, 20)
	}
}

func TestReplayRefusesADropbloxBotThatTalksNonsense(t *testing.T) {
	for script, want := range map[string]string{
		"echo hello":               `the bot writes "hello"`,
		"echo up; echo up; exit 3": "exit status 3",
		"echo left >&2":            "the bot complains: left",
		"for i in 1 2 3 4 5 6 7 8 9; do echo left; done": `the bot writes "left" where it is not legal`,
	} {
		_, err := ReplayDropblox(t.Context(), []string{"sh", "-c", script}, "1", nil)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "game 1, turn 0: ")
	}
}
