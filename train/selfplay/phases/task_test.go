package phases

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
	"blockyard/train/task"

	"github.com/stretchr/testify/require"
)

// A result that no player can have written is refused with a reason.
func TestResultsThatCannotBe(t *testing.T) {
	c := small(1)
	r := open(t, c, 1)
	player, err := selfplay.NewPlayer(task.BlockBattle, &c)
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

	tensors, meta, err := mlp.ParseTensors(file)
	require.NoError(t, err)
	write := func(tensors []mlp.Tensor, result map[string]any) []byte {
		whole := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(meta["result"]), &whole))
		for k, v := range result {
			whole[k] = v
		}
		text, err := json.Marshal(whole)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, mlp.WriteTensors(&b, tensors, map[string]string{"result": string(text)}))
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"no file":           {[]byte("hello, world"), "safetensors"},
		"truncated":         {file[:len(file)/2], "truncated"},
		"another slot":      {write(tensors, map[string]any{"slot": 3}), "want iteration 0, slot 2"},
		"another iteration": {write(tensors, map[string]any{"iteration": 9}), "the result of iteration 9"},
		"too many choices":  {write(tensors, map[string]any{"moves": 1 << 40}), "choices"},
		"no position":       {write(tensors, map[string]any{"end": map[string]any{"state": "AAAA", "word": "1"}}), ""},
		"a tensor less":     {write(tensors[1:], nil), "has the shape"},
	} {
		_, err := player.Decode(sent, c.file)
		require.ErrorContains(t, err, c.says, name)
	}
	player, err = selfplay.NewPlayer(task.BlockBattle, &c)
	require.NoError(t, err)
	sent.Rollout.Kind = "psychic"
	_, _, err = player.Play(t.Context(), sent, ro.Net)
	require.ErrorContains(t, err, `no policy of kind "psychic": want backup, lambda or actor`)
	sent.Rollout = ro
	sent.Start.State = "???"
	_, _, err = player.Play(t.Context(), sent, ro.Net)
	require.ErrorContains(t, err, "slot 2")
}
