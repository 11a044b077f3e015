package dropbloxbot

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/valuenet"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// The shipped net plays on where the classic terms, with as narrow a beam, have lost.
func TestShippedNetIsStronger(t *testing.T) {
	net, err := Shipped(dropblox.Game)
	require.NoError(t, err)
	learned, err := NewLearned(net)
	require.NoError(t, err)
	points := func(r Rater) (sum int) {
		for seed := uint64(1); seed <= 3; seed++ {
			a := NewAgent(r, 3, 3)
			var s dropblox.State
			for s.Reset(seed); s.Acting() != 0; {
				act, err := a.Act(context.Background(), &s, 0)
				require.NoError(t, err)
				s.Step(env.Alone(0, act))
			}
			sum += int(s.Points)
		}
		return sum
	}
	require.Greater(t, points(learned), points(&Hand{Classic}))
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.safetensors")
	facts := valuenet.Facts{Game: "blocking", Rules: 1, Features: FeatureNames}
	require.NoError(t, valuenet.Save(other, even(t), facts))
	_, err := LoadNet(dropblox.Game, other)
	require.ErrorContains(t, err, `for game "blocking"`)
	facts.Game = "dropblox"
	require.NoError(t, valuenet.Save(other, even(t), facts))
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
