package phases

import (
	"testing"

	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// startBackup begins a small run that is all backup.
func startBackup(t *testing.T, seed uint64) (*selfplay.Run, *backupLearner) {
	t.Helper()
	c := Default(games.TetrisDuel)
	c.Results, c.Backup, c.Look, c.GateElo = 0, 1, 1, 0
	c.Seed, c.Hidden, c.Batch, c.Games, c.Rounds, c.Iterations = seed, []int{16}, 32, 20, 64, 24
	c.Mean, c.Explore, c.Late, c.Gates, c.Samples, c.DeepWidth, c.Versus = 5, 0.1, 0.3, 1, 2, 3, 0.5
	r := openGame(t, games.TetrisDuel, c, 2)
	return r, r.Learner.(*backupLearner)
}

// What searching a ply further changes, beyond what it changes everywhere, is learned: the
// net comes nearer to it than the base is, on rows it has not seen either.
func TestBackupLearns(t *testing.T) {
	r, l := startBackup(t, 4)
	base := l.base
	for range r.Options.Iterations - 1 {
		require.NoError(t, r.Step())
	}
	require.Same(t, base, l.base, "it stands still until a gate")
	require.NoError(t, r.Play(t.Context(), l.Rollout()))
	l.collect()
	before, after := make([]float32, l.Rows.Len()), make([]float32, l.Rows.Len())
	base.Forward(l.Rows.X, len(before), before)
	l.Mean.Forward(l.Rows.X, len(after), after)
	residual := func(values []float32) (sum float64) {
		for i, v := range values {
			d := float64(v - l.Rows.Y[i])
			sum += d * d
		}
		return sum
	}
	require.Greater(t, l.Rows.Len(), 100)
	require.Less(t, residual(after), 0.9*residual(before))
	require.NoError(t, l.Gated())
	require.Same(t, l.Mean, l.base, "a gate ends the stage")
}
