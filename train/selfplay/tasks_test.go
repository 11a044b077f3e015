package selfplay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"
)

// several is a run of a second or so in a game of several seats: all TD(λ), or, against opponents, a quarter of it and
// then a backup.
func several(opponents ...string) *phases.Config {
	c := phases.Default(games.BlockBattle)
	c.Results, c.Backup, c.Rate, c.Opponents = 0, 0, 2e-4, opponents
	c.Seed, c.Games, c.Rounds, c.Iterations, c.Batch, c.Hidden = 7, 6, 24, 8, 32, []int{8}
	c.DeepWidth, c.Explore, c.Versus, c.Late = 2, 0.1, 0.5, 0.3
	c.Gates, c.GatePairs, c.GatePly = 2, 2, 1
	if opponents != nil {
		c.Results, c.Backup, c.Samples, c.Rounds = 0.25, 0.75, 6, 32
	}
	return &c
}

// one is a run of a second or so in a game of one seat, whose settings do not depend on the game.
func one() *single.Config {
	c := single.Default(games.WinTetris)
	c.Games, c.Rounds, c.Iterations, c.Hidden, c.Batch = 6, 24, 4, []int{8}, 64
	c.Gates, c.GateGames, c.GateSteps, c.Explore, c.Longest = 2, 3, 50, 0.05, 40
	c.Keep, c.Warm = 2, 0.5
	return &c
}

// A rollout whose slots are played through tasks and results, as in another process, in any order, is that of the same
// process: by choices of every kind, and by plans.
func TestTasksPlayTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		game     *games.Game
		settings func() selfplay.Algorithm
	}{
		"results":   {games.BlockBattle, func() selfplay.Algorithm { return several() }},
		"opponents": {games.BlockBattle, func() selfplay.Algorithm { return several("combo", "hand", "digger") }},
		"choices":   {games.WinTetris, func() selfplay.Algorithm { return one() }},
		"plans":     {games.Dropblox, func() selfplay.Algorithm { return one() }},
	} {
		t.Run(name, func(t *testing.T) {
			player := envtest.Must(selfplay.NewPlayer(c.game, c.settings()))
			var files [2][]byte
			for k := range files {
				r := envtest.Must(selfplay.New(c.game, c.settings(), nil, 1))
				if k == 1 {
					r.Remote = loopback{player}.play
				}
				require.NoError(t, r.Go(t.Context(), nil))
				files[k] = saved(t, r)
				require.NoError(t, r.Close())
			}
			require.True(t, bytes.Equal(files[0], files[1]))
		})
	}
}

// saved is what Save writes, without times.
func saved(t *testing.T, r *selfplay.Run) []byte {
	r.Counts.Spent, r.Counts.CPU, r.Counts.Gating, r.Counts.LastGate = 0, 0, 0, 0
	for i := range r.Curve {
		r.Curve[i].Seconds, r.Curve[i].CPU = 0, 0
	}
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, r.Save(path))
	return envtest.Must(os.ReadFile(path))
}

// A loopback plays every task in this process, through the form in which it would travel, the last slot first.
type loopback struct{ player *selfplay.Player }

func (l loopback) play(ctx context.Context, r *selfplay.Run, ro selfplay.Rollout) ([]*selfplay.Slot, error) {
	file, id := envtest.Must2(selfplay.NetFile(ro.Net))
	net := envtest.Must(selfplay.ParseNet(file))
	slots := make([]*selfplay.Slot, len(r.Slots))
	for i := len(slots) - 1; i >= 0; i-- {
		start := envtest.Must(r.Slots[i].Save())
		sent := &selfplay.Task{Iteration: r.Counts.Iterations, Slot: i, Rollout: ro, Net: id, Start: start}
		var got selfplay.Task
		if err := json.Unmarshal(envtest.Must(json.Marshal(sent)), &got); err != nil {
			return nil, err
		}
		file, _ := envtest.Must2(l.player.Play(ctx, &got, net))
		slots[i] = envtest.Must(l.player.Decode(sent, file))
	}
	return slots, nil
}
