package dropbloxbot

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// The shipped net plays on where the classic terms, with as narrow a beam, have lost: from
// where blocks begin to grow, in many games, for a few say nothing. It looks at all blocks
// that are known, since it has learnt what boards are worth six blocks on.
func TestShippedNetIsStronger(t *testing.T) {
	net, err := Shipped(dropblox.Game)
	require.NoError(t, err)
	learned, err := NewLearned(net)
	require.NoError(t, err)
	points := func(r Rater) (sum int) {
		for seed := uint64(1); seed <= 16; seed++ {
			a := NewAgent(r, 6, 0)
			var s dropblox.State
			s.Reset(seed)
			for s.Points = 430; s.Acting() != 0; {
				act, err := a.Act(context.Background(), &s, 0)
				require.NoError(t, err)
				s.Step(env.Alone(0, act))
			}
			sum += int(s.Points)
		}
		return sum
	}
	good, classic := points(learned), points(&Hand{Classic})
	t.Logf("%d points to %d", good, classic)
	require.Greater(t, good, classic)
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.safetensors")
	facts := mlp.Facts{Game: "blocking", Rules: 1, Features: FeatureNames}
	require.NoError(t, mlp.Save(other, even(t), facts))
	_, err := LoadNet(dropblox.Game, other)
	require.ErrorContains(t, err, `for game "blocking"`)
	facts.Game = "dropblox"
	require.NoError(t, mlp.Save(other, even(t), facts))
	_, err = LoadNet(dropblox.Game, other)
	require.NoError(t, err)
	_, err = LoadNet(dropblox.Game, filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)

	text := filepath.Join(dir, "weights.json")
	require.NoError(t, os.WriteFile(text, Classic.JSON(), 0o600))
	w, err := LoadWeights(text)
	require.NoError(t, err)
	require.Equal(t, Classic, w)
	require.NoError(t, os.WriteFile(text, []byte(`{"landing": 1}`), 0o600))
	_, err = LoadWeights(text)
	require.Error(t, err)
}
