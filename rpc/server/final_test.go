package server_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// The first games that end do so alike in every autoreset mode.
func TestFinal(t *testing.T) {
	var all []fields
	for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
		g := started(t, "blockbattle", map[string]any{
			"num_envs": 8, "seed": 4, "autoreset": mode, "max_episode_steps": 30, "reward": "score"})
		step, end := uint32(0), fields{"ended": 0}
		for ; end["ended"] == 0; step++ {
			require.NoError(t, g.Step(none(g.Rows)))
			end = ask(t, g, "final")
		}
		require.Equal(t, step, numbers[uint32](end.bytes("lengths"))[0])
		require.LessOrEqual(t, step, uint32(30))
		all = append(all, end)
	}
	require.Equal(t, []fields{all[0], all[0]}, all[1:])
}

// TestFinalInParts: a client with a small max_reply reads in parts what another one gets at once. Without parts it is
// refused.
func TestFinalInParts(t *testing.T) {
	large := start(t, nil)
	small := start(t, func(c *server.Config) { c.Limits.MaxReply = 64 << 10 })
	for _, game := range []string{"toy:turns", "blockbattle"} {
		for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
			ended := func(p *place) caller {
				g := startGames(t, dial(t, p.unix), game, map[string]any{"num_envs": 2000, "autoreset": mode,
					"max_episode_steps": 1, "illegal": "random", "packed": mode == "NextStep", "opponents": map[int]string{1: "first"}})
				require.NoError(t, g.Step(make([]byte, 2*g.Rows)))
				return g
			}
			whole, g := ask(t, ended(large), "final"), ended(small)
			require.Len(t, whole["envs"], 4*2000)
			parts, joined := 0, fields{}
			for ; len(joined.bytes("envs")) < 4*2000; parts++ {
				part := ask(t, g, "final", len(joined.bytes("envs"))/4)
				require.NotEmpty(t, part["envs"])
				for name, more := range part {
					if b, ok := more.([]byte); ok {
						more = append(joined.bytes(name), b...)
					}
					joined[name] = more
				}
			}
			require.Equal(t, whole, joined, "%s %s", game, mode)
			require.Greater(t, parts, 1)
			require.Empty(t, ask(t, g, "final", 2000)["envs"])
		}
	}
}

// A pushed notification has what final returns, and follows every step that ends games, and no other one.
func TestFinalIsPushed(t *testing.T) {
	small := start(t, func(c *server.Config) { c.Limits.MaxReply = 4 << 10 })
	poor := start(t, func(c *server.Config) { c.Limits.MaxReplies = 1 })
	options := map[string]any{"num_envs": 40, "autoreset": "SameStep", "seed": 1,
		"illegal": "random", "opponents": map[int]string{1: "first"}}
	for name, p := range map[string]*place{"all": start(t, nil), "some": small, "none": poor} {
		t.Run(name, func(t *testing.T) {
			g := startGames(t, dial(t, p.unix), "toy:pick", options) // to know where its fields are
			conn := raw(t, p.unix)
			from := msgpack.NewDecoder(conn)
			ask := func(method string, params ...any) any {
				write(t, conn, request(t, method, params...))
				answer, err := from.DecodeSlice()
				require.NoError(t, err)
				require.Len(t, answer, 4)
				require.Nil(t, answer[2])
				return answer[3]
			}
			ask("hello", map[string]any{"proto": []int{3, 0}})
			ask("open", "toy:pick", options)
			require.Equal(t, true, ask("push_final", 1))
			ask("reset", 1)
			ends := 0
			for range 200 {
				g.Slab = ask("step", 1, make([]byte, 2*40)).([]byte)
				ended := bytes.Count(g.Field("terminated"), []byte{1})
				if ended == 0 {
					continue
				}
				ends++
				pushed, err := from.DecodeSlice()
				require.NoError(t, err)
				params := pushed[2].([]any)
				require.Equal(t, fmt.Sprint([]any{wire.Notification, "final", 1, 77}), fmt.Sprint(append(pushed[:2:2], params[:2]...)),
					"of the handle and the request")
				got := params[2].(map[string]any)
				require.EqualValues(t, ended, got["ended"])
				if p == poor {
					require.Empty(t, got["envs"])
					continue
				}
				require.Equal(t, ask("final", 1, 0), any(got))
				require.LessOrEqual(t, len(got["envs"].([]byte)), 4*ended)
			}
			require.Greater(t, ends, 10)
		})
	}
	g := opened(t, "toy:pick", map[string]any{"autoreset": "NextStep"})
	require.ErrorContains(t, g.Call("push_final", nil), "the autoreset mode is NextStep, want SameStep")
}
