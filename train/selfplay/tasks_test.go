package selfplay_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"
)

// several is a run of a second or so in a game of several seats: all TD(λ), or a quarter of it and then a backup.
func several(backup bool, opponents ...string) *phases.Config {
	c := phases.Default(games.BlockBattle)
	c.Results, c.Backup, c.Rate = 0, 0, 2e-4
	c.Seed, c.Games, c.Rounds, c.Iterations, c.Batch, c.Hidden = 7, 6, 24, 8, 32, []int{8}
	c.DeepWidth, c.Explore, c.Versus, c.Late = 2, 0.1, 0.5, 0.3
	c.Gates, c.GatePairs, c.GatePly = 2, 2, 1
	if backup {
		c.Results, c.Backup, c.Samples, c.Rounds, c.Games, c.Gates = 0.25, 0.75, 6, 32, 4, 4
	}
	c.Opponents = opponents
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
		order    []int // of slots
	}{
		"results":   {games.BlockBattle, func() selfplay.Algorithm { return several(false) }, []int{5, 4, 3, 2, 1, 0}},
		"backup":    {games.BlockBattle, func() selfplay.Algorithm { return several(true) }, []int{3, 2, 1, 0}},
		"opponents": {games.BlockBattle, func() selfplay.Algorithm { return several(true, "combo", "hand", "digger") }, []int{3, 2, 1, 0}},
		"choices":   {games.WinTetris, func() selfplay.Algorithm { return one() }, []int{5, 3, 4, 0, 1, 2}},
		"plans":     {games.Dropblox, func() selfplay.Algorithm { return one() }, []int{5, 3, 4, 0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			play := func(remote func(context.Context, *selfplay.Run, selfplay.Rollout) ([]*selfplay.Slot, error)) (*selfplay.Run, []mlp.Tensor, map[string]any) {
				r, err := selfplay.New(c.game, c.settings(), nil, 1)
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, r.Close()) })
				r.Remote = remote
				require.NoError(t, r.Go(t.Context(), nil))
				tensors, fields := content(t, r)
				return r, tensors, fields
			}
			whole, tensors, fields := play(nil)
			player, err := selfplay.NewPlayer(c.game, c.settings())
			require.NoError(t, err)
			back := &loopback{player: player, order: c.order}
			apart, others, also := play(back.play)
			require.NotZero(t, back.bytes)
			require.Equal(t, tensors, others)
			require.Equal(t, fields, also)
			require.Equal(t, whole.Net().Tensors(), apart.Net().Tensors())
			require.Equal(t, whole.Best.Tensors(), apart.Best.Tensors())
		})
	}
}

// content is what Save writes, without times.
func content(t *testing.T, r *selfplay.Run) ([]mlp.Tensor, map[string]any) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, r.Save(path))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	tensors, meta, err := mlp.ParseTensors(data)
	require.NoError(t, err)
	var run map[string]any
	require.NoError(t, json.Unmarshal([]byte(meta["run"]), &run))
	for _, name := range []string{"spent", "gating", "last_gate", "cpu"} {
		delete(run["counts"].(map[string]any), name)
	}
	for _, p := range run["curve"].([]any) {
		delete(p.(map[string]any), "seconds")
		delete(p.(map[string]any), "cpu")
	}
	return tensors, run
}

// A loopback plays every task in this process, through the form in which it would travel, and the slots in an order of
// its own.
type loopback struct {
	player *selfplay.Player
	order  []int // of slots; all of them
	bytes  int   // of the results
}

func (l *loopback) play(ctx context.Context, r *selfplay.Run, ro selfplay.Rollout) ([]*selfplay.Slot, error) {
	file, id, err := selfplay.NetFile(ro.Net)
	if err != nil {
		return nil, err
	}
	net, err := selfplay.ParseNet(file)
	if err != nil {
		return nil, err
	}
	slots := make([]*selfplay.Slot, len(r.Slots))
	for _, i := range l.order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start, err := r.Slots[i].Save()
		if err != nil {
			return nil, err
		}
		sent := &selfplay.Task{Iteration: r.Counts.Iterations, Slot: i, Rollout: ro, Net: id, Start: start}
		text, err := json.Marshal(sent)
		if err != nil {
			return nil, err
		}
		var got selfplay.Task
		if err := json.Unmarshal(text, &got); err != nil {
			return nil, err
		}
		file, _, err := l.player.Play(ctx, &got, net)
		if err != nil {
			return nil, err
		}
		l.bytes += len(file)
		if slots[i], err = l.player.Decode(sent, file); err != nil {
			return nil, err
		}
	}
	return slots, nil
}
