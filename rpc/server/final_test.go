package server_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// finals are the last observations of games that ended.
type finals struct {
	Ended     int    `msgpack:"ended"`
	Envs      []byte `msgpack:"envs"`
	Planes    []byte `msgpack:"planes"`
	Globals   []byte `msgpack:"globals"`
	Mask      []byte `msgpack:"mask"`
	Seat      []byte `msgpack:"seat"`
	Scores    []byte `msgpack:"scores"`
	Lengths   []byte `msgpack:"lengths"`
	Opponents []byte `msgpack:"opponents"`
}

// fields returns the arrays of f.
func (f *finals) fields() []*[]byte {
	return []*[]byte{&f.Envs, &f.Planes, &f.Globals, &f.Mask, &f.Seat, &f.Scores, &f.Lengths, &f.Opponents}
}

// shared returns what memory that is shared for last observations has of them.
func (f *finals) shared() map[string]string {
	return map[string]string{"final_planes": string(f.Planes), "final_globals": string(f.Globals),
		"final_mask": string(f.Mask), "final_seat": string(f.Seat), "final_opponent": string(f.Opponents)}
}

// TestFinal plays the same games under each autoreset mode: they end alike.
func TestFinal(t *testing.T) {
	ends := func(mode string) (all []finals) {
		g := started(t, "blockbattle", map[string]any{
			"num_envs": 8, "seed": 4, "autoreset": mode, "max_episode_steps": 30, "reward": "score",
		})
		over := make([]byte, 8)
		for step := range 40 {
			if mode == "Disabled" && bytes.Contains(over, []byte{1}) {
				require.Equal(t, wire.NeedsReset, code(t, g.Step(none(g.Rows))))
				require.NoError(t, g.Reset(map[string]any{"mask": over}))
				clear(over)
			}
			require.NoError(t, g.Step(none(g.Rows)))
			f := result[finals](t, g, "final")
			lengths := numbers[uint32](f.Lengths)
			for k, i := range numbers[uint32](f.Envs) {
				over[i] = 1
				require.Positive(t, lengths[k])
				require.LessOrEqual(t, lengths[k], uint32(30))
			}
			if len(f.Envs) > 0 {
				if all = append(all, f); len(all) == 1 {
					require.EqualValues(t, step+1, lengths[0])
				}
			}
		}
		return all
	}
	next, same, disabled := ends("NextStep"), ends("SameStep"), ends("Disabled")
	require.NotEmpty(t, next)
	require.Equal(t, next[0], same[0])
	require.Equal(t, same, disabled, "both begin a new game without losing a step")
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
			whole, g := result[finals](t, ended(large), "final"), ended(small)
			require.Len(t, whole.Envs, 4*2000)
			parts, joined := 0, finals{Ended: 2000}
			for ; len(joined.Envs) < len(whole.Envs); parts++ {
				part := result[finals](t, g, "final", len(joined.Envs)/4)
				require.Equal(t, 2000, part.Ended)
				require.NotEmpty(t, part.Envs)
				for k, more := range part.fields() {
					*joined.fields()[k] = append(*joined.fields()[k], *more...)
				}
			}
			require.Equal(t, whole, joined, "%s %s", game, mode)
			require.Greater(t, parts, 1)
			require.Empty(t, result[finals](t, g, "final", 2000).Envs)
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
				require.Len(t, pushed, 3)
				require.EqualValues(t, wire.Notification, pushed[0])
				require.Equal(t, "final", pushed[1])
				params := pushed[2].([]any)
				require.EqualValues(t, 1, params[0], "the handle")
				require.EqualValues(t, 77, params[1], "the request")
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
