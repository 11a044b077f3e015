package server_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// logged steps games n times, and returns the log of all of them as replay takes it, game after game.
func logged(t *testing.T, g *client.Games, n int) (lengths, actions, moves []byte) {
	t.Helper()
	rows, byGame := make([][]byte, g.NumEnvs), make([][]byte, g.NumEnvs)
	for range n {
		masks := g.Field("mask")
		var all []byte
		for mask := range slices.Chunk(masks, len(masks)/g.Rows) {
			all = append(all, u16(legalOf(mask, 0))...)
		}
		require.NoError(t, g.Step(all))
		for i := range rows {
			wide := 2 * g.RowsPerEnv
			rows[i] = append(rows[i], all[i*wide:(i+1)*wide]...)
			if m := g.Field("moves"); m != nil {
				byGame[i] = append(byGame[i], m[i*2*vec.MovesLen:(i+1)*2*vec.MovesLen]...)
			}
		}
	}
	return u32(slices.Repeat([]uint32{uint32(n)}, g.NumEnvs)...), bytes.Join(rows, nil), bytes.Join(byGame, nil)
}

// A checkpoint and a log of the steps since bring games to where they were, on another server, without asking their
// opponents: also what final returns, and all that follows. Episodes in progress are recorded there, whole and once.
func TestReplayGoesOnExactly(t *testing.T) {
	var asked atomic.Int64
	counting := func(c *server.Config) {
		real(2)(c)
		addAgent(c, "counted", playing(func(ctx context.Context, legal []env.Action) (env.Action, error) {
			asked.Add(1)
			return first(ctx, legal)
		}))
	}
	here, there := start(t, counting), start(t, counting)
	for _, game := range games.All {
		for _, mode := range []string{"NextStep", "SameStep"} {
			for _, spec := range []string{"", "counted", "random|counted"} {
				if game.MaxSeats == 1 && spec != "" {
					continue
				}
				t.Run(fmt.Sprintf("%s %s %s", game.Name, mode, spec), func(t *testing.T) {
					o := map[string]any{"seed": 5, "autoreset": mode, "max_episode_steps": 6, "log": true}
					if spec != "" {
						o["opponents"] = opponentsOf(game, spec)
						o["seats"] = game.MaxSeats
					}
					left, right := openParts(t, here, game.Name, 4, o, 0), openParts(t, there, game.Name, 4, o, 0)
					a, b := left[0], right[0]
					require.NoError(t, b.Call("record", nil, map[string]any{"every": 2}))
					recordOne(t, a, 2)
					recorded := 0
					for step := range 5 {
						logged(t, a, step)
						fetch(t, a)
						c := result[saved](t, a, "checkpoint", nil, map[string]any{"recordings": true})
						lengths, actions, moves := logged(t, a, 3+step)
						require.NoError(t, b.CallSlab("resume", nil, c.Head, c.Games, map[string]any{"recordings": c.Recordings}))
						before := asked.Load()
						require.NoError(t, b.Call("replay", nil, nil, lengths, actions, moves))
						more := int64(0) // a step of blocking may have more moves than the slab
						for k := 0; k < len(moves); k += 2 * vec.MovesLen {
							more += max(0, int64(moves[k])-(vec.MovesLen-1))
						}
						require.LessOrEqual(t, asked.Load()-before, more, "no opponent is asked")
						require.Equal(t, result[finals](t, a, "final"), result[finals](t, b, "final"))
						_, all := left.checkpoint(t)
						_, same := right.checkpoint(t)
						require.Equal(t, all, same)
						require.NoError(t, b.CallSlab("clone", nil, nil), "to see the games")
						require.Equal(t, left.play(t, 0, 4, false), right.play(t, 0, 4, false))
						want, got := fetch(t, a), fetch(t, b)
						require.ElementsMatch(t, linesOf(want.Lines), linesOf(got.Lines))
						recorded += len(recordsIn(t, got.Lines, game))
						require.Equal(t, recorded, got.Finished)
						if step == 0 { // later ones replace episodes in progress
							require.Zero(t, got.Dropped+got.Interrupted)
						}
					}
					require.Positive(t, recorded)
					if spec == "counted" {
						require.NotZero(t, asked.Load())
					}
				})
			}
		}
	}
}

// What a log is for is refused where it cannot work, and malformed requests are.
func TestReplayRefuses(t *testing.T) {
	c := dial(t, start(t, real(1)).unix)
	for spec, reason := range map[string]string{
		"hand:time=50ms": `open: log: the opponent "hand:time=50ms" of seat 1 cannot be replayed elsewhere: ` +
			"its choices depend on the clock (time=50ms), so no other run can repeat them",
		"silent": "it is a program of its own, whose memory cannot be read",
	} {
		before := memory(t, c)
		_, err := c.Open("tetrisduel", map[string]any{"log": true, "opponents": map[int]string{1: spec}})
		refused(t, wire.BadParams, reason, err)
		require.Equal(t, before, memory(t, c))
	}
	g := openGames(t, c, "tetrisduel", map[string]any{"log": true, "num_envs": 2, "opponents": map[int]string{1: "first"}})
	before := memory(t, c)
	require.ErrorContains(t, g.Call("set_opponents", nil, map[int]string{1: "hand:time=1s"}),
		`set_opponents: log: the opponent "hand:time=1s" of seat 1 cannot be replayed elsewhere`)
	require.Equal(t, before, memory(t, c))
	require.Equal(t, wire.NeedsReset, code(t, g.Call("replay", nil, nil, u32(0, 0), nil, nil)))
	require.NoError(t, g.Reset(nil))
	require.NoError(t, g.Call("replay", nil, nil, u32(0, 0), []byte{}, []byte{}))
	lengths, actions, moves := logged(t, g, 3)
	for says, params := range map[string][]any{
		"lengths has 8 bytes, want 4 for each of 1 games":             {u32(1), lengths, actions, moves},
		"12 bytes of actions and 0 of moves, want 12 and 768: 2 and ": {nil, lengths, actions, nil},
		"games names game 2, want 0 to 1":                             {u32(2), u32(0), nil, nil},
		"0 bytes of actions":                                          {nil, u32(1<<32-1, 1<<32-1), nil, nil},
	} {
		refused(t, wire.BadParams, says, g.Call("replay", nil, params...))
	}
	actions[0] = 0xF0
	refused(t, wire.Opponent, "the log does not fit the environment: step 0:", g.Call("replay", nil, nil, lengths, actions, moves))
	require.NoError(t, g.Reset(nil), "the games go on")
}
