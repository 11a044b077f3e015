package phases

import (
	"context"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// A result that no player can have written is refused with a reason.
func TestResultsThatCannotBe(t *testing.T) {
	c := small(1)
	r := open(t, c, 1)
	player, err := selfplay.NewPlayer(games.BlockBattle, &c)
	require.NoError(t, err)
	ro := r.Learner.Rollout()
	start, err := r.Slots[2].Save()
	require.NoError(t, err)
	sent := &selfplay.Task{Slot: 2, Rollout: ro, Start: start}
	file, _, err := player.Play(t.Context(), sent, ro.Net)
	require.NoError(t, err)
	_, err = player.Decode(sent, file)
	require.NoError(t, err)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = player.Play(over, sent, ro.Net)
	require.ErrorIs(t, err, context.Canceled)

	result, tensors, err := selfplay.ReadResult(file)
	require.NoError(t, err)
	write := func(tensors []mlp.Tensor, change func(*selfplay.Result)) []byte {
		x := *result
		change(&x)
		file, err := selfplay.AppendResult(nil, &x, tensors)
		require.NoError(t, err)
		return file
	}
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"truncated":         {file[:len(file)/2], "not a result"},
		"another slot":      {write(tensors, func(r *selfplay.Result) { r.Slot = 3 }), "want iteration 0, slot 2"},
		"another iteration": {write(tensors, func(r *selfplay.Result) { r.Iteration = 9 }), "the result of iteration 9"},
		"too many choices":  {write(tensors, func(r *selfplay.Result) { r.Moves = 1 << 20 }), "choices"},
		"no position":       {write(tensors, func(r *selfplay.Result) { r.End.State = "AAAA" }), ""},
		"a tensor less":     {write(tensors[1:], func(*selfplay.Result) {}), "has the shape"},
	} {
		_, err := player.Decode(sent, c.file)
		require.ErrorContains(t, err, c.says, name)
	}
	player, err = selfplay.NewPlayer(games.BlockBattle, &c)
	require.NoError(t, err)
	sent.Rollout.Kind = "psychic"
	_, _, err = player.Play(t.Context(), sent, ro.Net)
	require.ErrorContains(t, err, `no policy of kind "psychic": want siblings, backup or lambda`)
	sent.Rollout = ro
	sent.Start.State = "???"
	_, _, err = player.Play(t.Context(), sent, ro.Net)
	require.ErrorContains(t, err, "slot 2")
}
