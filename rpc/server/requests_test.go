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
	g, err := c.Open("toy:pick", map[string]any{"num_envs": 2})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	for _, r := range []struct {
		want   int
		method string
		params []any
	}{
		{wire.UnknownMethod, "nothing", nil}, {wire.UnknownMethod, "", nil}, {wire.BadParams, "ping", []any{1}},
		{wire.Version, "hello", []any{map[string]any{"proto": []int{2, 1}}}},
		{wire.Version, "hello", []any{map[string]any{"proto": []int{4, 0}}}},
	} {
		require.Equal(t, r.want, code(t, dial(t, p.unix).Call(r.method, nil, r.params...)), r.method)
	}
	option := func(key string, v any) []any { return []any{"toy:pick", map[string]any{key: v}} }
	for _, r := range []struct {
		want   int
		method string
		params []any
	}{
		{wire.UnknownGame, "open", []any{"chess"}}, {wire.UnknownGame, "describe", []any{""}},
		{wire.BadParams, "describe", []any{5}}, {wire.BadParams, "open", nil},
		{wire.BadParams, "open", option("num_env", 3)}, {wire.BadParams, "open", option("num_envs", 0)},
		{wire.BadParams, "open", option("num_envs", -1)},
		{wire.BadParams, "open", option("num_envs", uint64(math.MaxUint64))},
		{wire.BadParams, "open", option("num_envs", 1<<40)},
		{wire.BadParams, "open", option("num_envs", "many")}, {wire.BadParams, "open", option("seats", 3)},
		{wire.BadParams, "open", option("autoreset", "Never")}, {wire.BadParams, "open", option("rows", "game")},
		{wire.BadParams, "open", option("reward", "money")}, {wire.BadParams, "open", option("illegal", "maybe")},
		{wire.BadParams, "open", option("max_episode_steps", -5)},
		{wire.BadParams, "open", option("seed", -1)}, {wire.BadParams, "open", option("seed", math.MinInt64)},
		{wire.BadParams, "open", option("seed", "1")}, {wire.BadParams, "open", option("first", -1)},
		{wire.BadParams, "reset", []any{1, map[string]any{"seed": -1}}},
		{wire.BadParams, "afterstates", []any{1, nil, map[string]any{"seed": -300}}},
		{wire.BadParams, "clone", []any{1, u32(0), u32(1), map[string]any{"reseed": -1}}},
		{wire.BadParams, "open", option("fields", []string{"colour"})},
		{wire.BadParams, "open", option("seeds", []byte{1})},
		{wire.BadParams, "open", option("opponents", map[int]string{2: "first"})},
		{wire.BadParams, "open", option("opponents", map[int]string{0: "first", 1: "first"})},
		{wire.BadParams, "open", option("opponents", map[int]string{1: "nobody"})},
		{wire.BadHandle, "reset", []any{9}}, {wire.BadParams, "reset", nil}, {wire.BadParams, "reset", []any{-1}},
		{wire.BadParams, "reset", []any{1, map[string]any{"mask": []byte{1}}}},
		{wire.BadParams, "reset", []any{1, map[string]any{"mask": []byte{0, 0}}}},
		{wire.BadParams, "reset", []any{1, map[string]any{"seed": 1, "seeds": make([]byte, 16)}}},
		{wire.BadParams, "legal", []any{1, []byte{1, 2}}}, {wire.BadParams, "legal", []any{1, u32(2)}},
		{wire.BadParams, "legal", []any{1, u32(1, 1)}}, {wire.BadParams, "legal", []any{1, "all"}},
		{wire.BadParams, "clone", []any{1, u32(0), u32(0, 1)}}, {wire.BadParams, "render", []any{1, 2}},
		{wire.BadParams, "render", []any{1, 0, map[string]any{"mode": "video"}}},
		{wire.BadParams, "render", []any{1, 0, map[string]any{"mode": "svg", "theme": "grey"}}},
		{wire.BadParams, "rollout", []any{1, 0}}, {wire.BadParams, "rollout", []any{1, 1 << 40}},
		{wire.BadParams, "rollout", []any{1, 1, map[string]any{"keep": "some"}}},
		{wire.BadParams, "text", []any{"toy:pick", []byte{1}}}, {wire.BadParams, "text", []any{"toy:pick", u16(9)}},
		{wire.BadParams, "set_opponents", []any{1, map[int]any{7: "first"}}},
		{wire.BadParams, "set_opponents", []any{1, map[int]any{}}},
		{wire.BadParams, "set_opponents", []any{1, map[string]any{"one": "first"}}},
		{wire.BadParams, "opponent_stats", []any{1, map[string]any{"reset": 1}}},
		{wire.BadParams, "upload", []any{"toy:pick", "net:weights=sha256:00", []byte("good")}},
		{wire.BadParams, "upload", []any{"toy:pick", "first", []byte("good")}},
		{wire.BadParams, "upload", []any{"toy:pick", "first"}},
		{wire.BadParams, "drop_upload", []any{"sha256:00"}},
	} {
		require.Equal(t, r.want, code(t, c.Call(r.method, nil, r.params...)), "%s %v", r.method, r.params)
	}
	require.NoError(t, g.Step(u16(65535, 65535, 65535, 65535)), "the handle works after all of that")
}
