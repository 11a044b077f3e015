package server_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire"
)

func TestBadRequests(t *testing.T) {
	p := start(t, nil)
	c := dial(t, p.unix)
	g := startGames(t, c, "toy:pick", map[string]any{"num_envs": 2})
	for _, major := range []int{2, 4} { // which ends the connection
		hello := map[string]any{"proto": []int{major, 0}}
		require.Equal(t, wire.Version, code(t, dial(t, p.unix).Call("hello", nil, hello)))
	}
	for _, options := range []map[string]any{
		{"num_env": 3}, {"num_envs": 0}, {"num_envs": -1}, {"num_envs": uint64(math.MaxUint64)}, {"num_envs": 1 << 40},
		{"num_envs": "many"}, {"seats": 3}, {"autoreset": "Never"}, {"rows": "game"}, {"reward": "money"}, {"illegal": "maybe"},
		{"max_episode_steps": -5}, {"seed": -1}, {"seed": math.MinInt64}, {"seed": "1"}, {"first": -1},
		{"fields": []string{"colour"}}, {"seeds": []byte{1}}, {"opponents": map[int]string{2: "first"}},
		{"opponents": map[int]string{0: "first", 1: "first"}}, {"opponents": map[int]string{1: "nobody"}},
	} {
		require.Equal(t, wire.BadParams, code(t, c.Call("open", nil, "toy:pick", options)), options)
	}
	for want, requests := range map[int]map[string][][]any{
		wire.UnknownMethod: {"nothing": {nil}, "": {nil}},
		wire.UnknownGame:   {"open": {{"chess"}}, "describe": {{""}}},
		wire.BadHandle:     {"reset": {{9}}},
		wire.BadParams: {
			"ping": {{1}}, "describe": {{5}}, "open": {nil},
			"reset": {nil, {-1}, {1, map[string]any{"seed": -1}}, {1, map[string]any{"mask": []byte{1}}},
				{1, map[string]any{"mask": []byte{0, 0}}}, {1, map[string]any{"seed": 1, "seeds": make([]byte, 16)}}},
			"afterstates": {{1, nil, map[string]any{"seed": -300}}},
			"legal":       {{1, []byte{1, 2}}, {1, u32(2)}, {1, u32(1, 1)}, {1, "all"}},
			"clone":       {{1, u32(0), u32(1), map[string]any{"reseed": -1}}, {1, u32(0), u32(0, 1)}},
			"render": {{1, 2}, {1, 0, map[string]any{"mode": "video"}},
				{1, 0, map[string]any{"mode": "svg", "theme": "grey"}}},
			"rollout": {{1, 0}, {1, 1 << 40}, {1, 1, map[string]any{"keep": "some"}}},
			"text":    {{"toy:pick", []byte{1}}, {"toy:pick", u16(9)}},
			"set_opponents": {{1, map[int]any{7: "first"}}, {1, map[int]any{}},
				{1, map[string]any{"one": "first"}}},
			"opponent_stats": {{1, map[string]any{"reset": 1}}},
			"upload": {{"toy:pick", "net:weights=sha256:00", []byte("good")}, {"toy:pick", "first", []byte("good")},
				{"toy:pick", "first"}},
			"drop_upload": {{"sha256:00"}},
		},
	} {
		for method, all := range requests {
			for _, params := range all {
				require.Equal(t, want, code(t, c.Call(method, nil, params...)), "%s %v", method, params)
			}
		}
	}
	require.NoError(t, g.Step(none(4)), "the handle works after all of that")
}
