package phases

import (
	"context"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// A result that no player can have written is refused with a reason.
func TestResultsThatCannotBe(t *testing.T) {
	c := small(1)
	r := open(t, c, 1)
	player := envtest.Must(selfplay.NewPlayer(games.BlockBattle, &c))
	ro := r.Learner.Rollout()
	start := envtest.Must(r.Slots[2].Save())
	sent := &selfplay.Task{Slot: 2, Rollout: ro, Start: start}
	file, _ := envtest.Must2(player.Play(t.Context(), sent, ro.Net))
	envtest.Must(player.Decode(sent, file))
	require.ErrorIs(t, envtest.Failed2(player.Play(envtest.Stopped(t), sent, ro.Net)), context.Canceled)

	result, tensors := envtest.Must2(selfplay.ReadResult(file))
	write := func(tensors []mlp.Tensor, change func(*selfplay.Result)) []byte {
		x := *result
		change(&x)
		return envtest.Must(selfplay.AppendResult(nil, &x, tensors))
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
		require.ErrorContains(t, envtest.Failed(player.Decode(sent, c.file)), c.says, name)
	}
	player = envtest.Must(selfplay.NewPlayer(games.BlockBattle, &c))
	sent.Rollout.Kind = "psychic"
	_, _, err := player.Play(t.Context(), sent, ro.Net)
	require.ErrorContains(t, err, `no policy of kind "psychic": want siblings, backup or lambda`)
	sent.Rollout = ro
	sent.Start.State = "???"
	require.ErrorContains(t, envtest.Failed2(player.Play(t.Context(), sent, ro.Net)), "slot 2")
}
