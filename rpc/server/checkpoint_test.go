package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// real serves all games with all agents.
func real(workers int) func(c *server.Config) {
	return func(c *server.Config) {
		c.Games, c.Workers = append(games.All[:len(games.All):len(games.All)], toy.Pick, toy.Turns), workers
		c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			f, err := bots.New(g, t)
			return vec.AgentFactory(f), err
		}
		addAgent(c, "silent", func(uint64) (env.Agent, error) { // it says nothing of what it remembers
			return struct{ env.Agent }{&actor{choose: first}}, nil
		})
	}
}

// parts are games in several handles, in order.
type parts []*client.Games

// openParts opens n games in handles that begin with the given games.
func openParts(t *testing.T, p *place, game string, n int, options map[string]any, first ...int) (all parts) {
	first = append(first, n)
	for k, start := range first[:len(first)-1] {
		o := map[string]any{"num_envs": first[k+1] - start, "first": start, "seed": 3}
		maps.Copy(o, options)
		all = append(all, openGames(dial(t, p.unix), game, o))
	}
	return all
}

// startParts opens n games in one handle and resets them.
func startParts(t *testing.T, p *place, game string, n int, options map[string]any) parts {
	all := openParts(t, p, game, n, options, 0)
	require.NoError(t, all[0].Reset(nil))
	return all
}

// play steps n times, with actions by the step and a row's mask, and returns all that every game shows after each step.
func (p parts) play(t *testing.T, from, n int, disabled bool) (told []string) {
	for step := from; step < from+n; step++ {
		for _, g := range p {
			count := func(mask []byte) uint64 { return uint64(crc32.ChecksumIEEE(mask)) + uint64(step) }
			require.NoError(t, g.Step(chosen(g.Field("mask"), g.Rows, count)))
			told = append(told, gamesOf(g, g.Slab, g.NumEnvs)...)
			ended := or(g.Field("terminated"), g.Field("truncated"))
			if disabled && bytes.Contains(ended, []byte{1}) {
				require.NoError(t, g.Reset(map[string]any{"mask": ended}))
			}
		}
	}
	return told
}

// checkpoint returns the head and the games, one by one.
func (p parts) checkpoint(t testing.TB) (head []byte, all [][]byte) {
	for _, g := range p {
		for i := range g.NumEnvs {
			c := ask(t, g, "checkpoint", u32(uint32(i)))
			require.Equal(t, 1, c["count"])
			head, all = c.bytes("head"), append(all, c.bytes("games"))
		}
	}
	return head, all
}

func (p parts) resume(t *testing.T, head []byte, all [][]byte) {
	for _, g := range p {
		require.NoError(t, g.CallSlab("resume", nil, head, bytes.Join(all[:g.NumEnvs], nil)))
		all = all[g.NumEnvs:]
	}
}

// is wants games to be as a checkpoint says.
func (p parts) is(t *testing.T, head []byte, all [][]byte) {
	now, same := p.checkpoint(t)
	require.JSONEq(t, string(head), string(now))
	require.Equal(t, all, same)
}

// opponentsOf gives an opponent or a mixture to all seats but one, unless it is nil.
func opponentsOf(g *env.Game, opponent any) map[int]any {
	out := map[int]any{}
	for seat := 1; opponent != nil && seat < g.MaxSeats; seat++ {
		out[seat] = opponent
	}
	return out
}

// On another server, with other workers and handles: every game, with every kind of opponent, in every mode.
func TestCheckpointGoesOnExactly(t *testing.T) {
	const n = 5
	here, there := start(t, real(1)), start(t, real(3))
	for _, game := range games.All {
		specs := []any{nil, "random", "hand:ply=1", "learned:ply=1", mixed("random", 1, "first", 1.3, "hand:ply=1", 1.6)}
		switch {
		case game.MaxSeats == 1:
			specs = specs[:1]
		case testing.Short(): // with the race detector, which searches teach nothing
			specs = specs[4:]
		case game.Name == "tetrisduel":
			specs = append(specs, "hand:ply=3,width=2")
		}
		for k, spec := range specs {
			for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
				rows := []string{"seat", "acting"}[k%2]
				t.Run(fmt.Sprint(game.Name, spec, mode, rows), func(t *testing.T) {
					here.AwaitIdle(t.Context()) // the sessions of clients that are gone end a moment later
					there.AwaitIdle(t.Context())
					o := map[string]any{"seats": game.MaxSeats, "autoreset": mode, "rows": rows, "max_episode_steps": 17,
						"opponents": opponentsOf(game, spec)}
					a := startParts(t, here, game.Name, n, o)
					a.play(t, 0, 15, mode == "Disabled")
					head, all := a.checkpoint(t)
					want := a.play(t, 15, 25, mode == "Disabled")
					again, same := a.checkpoint(t)
					b := openParts(t, there, game.Name, n, o, 0, 2, 3)
					b.resume(t, head, all)
					require.Equal(t, want, b.play(t, 15, 25, mode == "Disabled"))
					b.is(t, again, same)
				})
			}
		}
	}
}

func rolled(t *testing.T, g *client.Games, policy string) fields {
	return ask(t, g, "rollout", 12, map[string]any{"policy": policy})
}

// The policy of rollouts is part of a checkpoint, and so are opponents that have been replaced, until the episode ends.
func TestCheckpointHasPolicyAndOpponents(t *testing.T) {
	p := start(t, real(2))
	for policy, names := range map[string][]string{
		"random": {"blockbattle", "tetrisduel", "toy:pick", "toy:turns", "wintetris:tick"},
		"hand":   {"blockbattle", "tetrisduel", "wintetris:tick"}, "first": {"toy:pick", "toy:turns"},
	} {
		for _, game := range names {
			several := game != "wintetris:tick"
			o := map[string]any{}
			if several {
				o["opponents"] = map[int]string{1: "random"}
			}
			a, b := startParts(t, p, game, 4, o), openParts(t, p, game, 4, o, 0)
			rolled(t, a[0], policy)
			if several {
				require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: mixed("first", 1, "random", 2)}))
			}
			require.NoError(t, a[0].Call("rollout", nil, 1, map[string]any{"policy": policy, "keep": "last"}))
			head, all := a.checkpoint(t)
			b.resume(t, head, all)
			for k := range 10 { // until the opponents are replaced everywhere
				now := policy
				if k == 1 {
					now = "random"
				}
				require.Equal(t, rolled(t, a[0], now), rolled(t, b[0], now), "%s %s", game, policy)
			}
			b.resume(t, head, all) // into games that have a policy and opponents
			b.is(t, head, all)
		}
	}
}

// logged steps games n times, and returns the log of all of them as replay takes it, game after game.
func logged(t *testing.T, g *client.Games, n int) (lengths, actions, moves []byte) {
	rows, byGame := make([][]byte, g.NumEnvs), make([][]byte, g.NumEnvs)
	for range n {
		all := chosen(g.Field("mask"), g.Rows, func([]byte) uint64 { return 0 })
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
			for _, spec := range []any{nil, "counted", mixed("random", 1, "counted", 1.3)} {
				if game.MaxSeats == 1 && spec != nil {
					continue
				}
				t.Run(fmt.Sprint(game.Name, mode, spec), func(t *testing.T) {
					o := map[string]any{"seed": 5, "autoreset": mode, "max_episode_steps": 6, "log": true,
						"seats": game.MaxSeats, "opponents": opponentsOf(game, spec)}
					left, right := openParts(t, here, game.Name, 4, o, 0), openParts(t, there, game.Name, 4, o, 0)
					a, b := left[0], right[0]
					require.NoError(t, b.Call("record", nil, map[string]any{"every": 2}))
					recordOne(t, a, 2)
					recorded := 0
					for step := range 5 {
						logged(t, a, step)
						fetch(t, a)
						c := ask(t, a, "checkpoint", nil, map[string]any{"recordings": true})
						lengths, actions, moves := logged(t, a, 3+step)
						require.NoError(t, b.CallSlab("resume", nil, c["head"], c["games"], map[string]any{"recordings": c["recordings"]}))
						before := asked.Load()
						require.NoError(t, b.Call("replay", nil, nil, lengths, actions, moves))
						more := int64(0) // a step of blocking may have more moves than the slab
						for k := 0; k < len(moves); k += 2 * vec.MovesLen {
							more += max(0, int64(moves[k])-(vec.MovesLen-1))
						}
						require.LessOrEqual(t, asked.Load()-before, more, "no opponent is asked")
						require.Equal(t, ask(t, a, "final"), ask(t, b, "final"))
						_, all := left.checkpoint(t)
						_, same := right.checkpoint(t)
						require.Equal(t, all, same)
						require.NoError(t, b.CallSlab("clone", nil, nil), "to see the games")
						require.Equal(t, left.play(t, 0, 4, false), right.play(t, 0, 4, false))
						want, got := fetch(t, a), fetch(t, b)
						require.ElementsMatch(t, linesOf(want), linesOf(got))
						recorded += len(recordsIn(t, got.bytes("lines"), game))
						require.Equal(t, recorded, got["finished"])
						if step == 0 { // later ones replace episodes in progress
							require.Equal(t, []any{0, 0}, []any{got["dropped"], got["interrupted"]})
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

// Checkpoints and logs are refused where they cannot work, and malformed requests are.
func TestReplayAndCheckpointRefuse(t *testing.T) {
	c := dial(t, start(t, real(1)).unix)
	for spec, reason := range map[string]string{
		"hand:time=50ms": "its choices depend on the clock (time=50ms), so no other run can repeat them",
		"silent":         "it is a program of its own, whose memory cannot be read",
	} {
		before, options := memory(t, c), map[string]any{"log": true, "opponents": map[int]string{1: spec}}
		says := fmt.Sprintf("open: log: the opponent %q of seat 1 cannot be replayed elsewhere: %s", spec, reason)
		refused(t, wire.BadParams, says, envtest.Failed(c.Open("tetrisduel", options)))
		require.Equal(t, before, memory(t, c))
		options["log"] = false
		g := openGames(c, "tetrisduel", options)
		require.Equal(t, wire.NeedsReset, code(t, g.Call("checkpoint", nil, nil)), "before the first reset")
		require.NoError(t, g.Reset(nil))
		says = fmt.Sprintf("the opponent of seat 1, %q, cannot be saved: %s", spec, reason)
		refused(t, wire.BadParams, says, g.Call("checkpoint", nil, nil))
	}
	policies := startGames(t, c, "tetrisduel", nil)
	rolled(t, policies, "hand:ply=1,time=5ms")
	refused(t, wire.BadParams, `the rollout policy, "hand:ply=1,time=5ms", cannot be saved`, policies.Call("checkpoint", nil, nil))
	rolled(t, policies, "first")
	require.NoError(t, policies.Call("checkpoint", nil, nil))
	g := openGames(c, "tetrisduel", map[string]any{"log": true, "num_envs": 2, "opponents": map[int]string{1: "first"}})
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

// saveOne returns a checkpoint of n games of Block Battle against random, and the games.
func saveOne(t testing.TB, p *place, n int) (a parts, head []byte, all [][]byte) {
	g := startGames(t, dial(t, p.unix), "blockbattle", map[string]any{"num_envs": n, "opponents": map[int]string{1: "random"}})
	require.NoError(t, g.Call("rollout", nil, 9, map[string]any{"policy": "first", "keep": "last"}))
	head, all = parts{g}.checkpoint(t)
	return parts{g}, head, all
}

// Whatever byte is damaged, nothing is resumed, and one error says so.
func TestResumeRefusesDamage(t *testing.T) {
	a, head, all := saveOne(t, start(t, real(1)), 3)
	seen := bytes.Clone(a[0].Slab)
	_, before := a.checkpoint(t)
	resume := func(last []byte) error {
		return a[0].CallSlab("resume", nil, head, bytes.Join([][]byte{all[0], all[1], last}, nil))
	}
	for at := range all[2] {
		bad := bytes.Clone(all[2])
		bad[at] ^= 0x40
		refused(t, wire.BadState, "game 2 of the checkpoint: ", resume(bad))
		require.Equal(t, wire.BadState, code(t, resume(all[2][:at])), "cut off after %d", at)
	}
	_, after := a.checkpoint(t)
	require.Equal(t, before, after)
	require.Equal(t, seen, a[0].Slab)
}

// resealed gives a record that was changed a right checksum.
func resealed(b []byte) []byte {
	body := len(b) - 4
	return binary.LittleEndian.AppendUint32(b[:body:body], crc32.Checksum(b[:body], crc32.MakeTable(crc32.Castagnoli)))
}

func TestResumeRefuses(t *testing.T) {
	p := start(t, real(1))
	a, head, all := saveOne(t, p, 2)
	games := bytes.Join(all, nil)
	changed := func(old, new string) []byte {
		require.Contains(t, string(head), old)
		return []byte(strings.Replace(string(head), old, new, 1))
	}
	// opponent is the first game with other bytes for the length of its opponent, the seat and the number.
	opponent := func(now string) []byte {
		before := []byte("opponent\x0b\x00\x00\x00\x01\x00")
		require.Contains(t, string(all[0]), string(before))
		return resealed(bytes.Replace(all[0], before, []byte("opponent"+now), 1))
	}
	for _, c := range []struct {
		head, games []byte
		code        int
		says        string
	}{
		{nil, games, wire.BadState, "its head is no JSON"},
		{[]byte("{}"), games, wire.BadState, "it has version 0 of the format of checkpoints, of an older server; this one reads version 4"},
		{changed(`"format":4`, `"format":5,"new":1`), games, wire.BadState, "it has version 5 of the format of checkpoints, of a newer"},
		{changed(`"format":4`, `"format":4,"new":1`), games, wire.BadState, `unknown field "new"`},
		{changed(`"game":"blockbattle"`, `"game":"go"`), games, wire.BadState,
			"game is go in the checkpoint and blockbattle in this environment: they must be equal"},
		{changed(`"rules":1`, `"rules":9`), games, wire.BadState, "rules version is 9 in the checkpoint and 1"},
		{changed(`"autoreset":"NextStep"`, `"autoreset":"x"`), games, wire.BadState, "autoreset mode is x"},
		{changed(`"rows":"seat"`, `"rows":"acting"`), games, wire.BadState, "rows is acting in the checkpoint and seat"},
		{changed(`"reward":"result"`, `"reward":"score"`), games, wire.BadState, "reward is score"},
		{changed(`"players":[0]`, `"players":[1]`), games, wire.BadState, "driven seats is [1]"},
		{changed(`"mixtures":[[],[{"number":0,"weight":1}]]`, `"mixtures":[[],[]]`), games, wire.BadState,
			"0 opponents for seat 1, want up to 256, and none for a driven seat"},
		{changed(`"mixtures":[[],`, `"mixtures":[[{"number":0,"weight":1}],`), games, wire.BadState, "1 opponents for seat 0"},
		{changed(`"mixtures":[[],`, `"mixtures":[`), games, wire.BadState, "mixtures for 1 seats, want 2"},
		{changed(`{"number":0,"weight":1}`, `{"number":1,"weight":1}`), games, wire.BadState, "opponent 1 for seat 1, want less than 1"},
		{changed(`{"number":0,"weight":1}`, `{"number":0,"weight":0}`), games, wire.BadState, "weight 0, want a finite number"},
		{changed(`"opponents":["random"]`, `"opponents":["random","random"]`), games, wire.BadState, "twice"},
		{changed(`"opponents":["random"]`, `"opponents":[]`), games, wire.BadState, "opponent 0 for seat 1, want less than 0"},
		{changed(`"opponents":["random"]`, `"opponents":["hnad"]`), games, wire.BadParams, "unknown agent"},
		{changed(`"opponents":["random"]`, `"opponents":["exec:true"]`), games, wire.BadParams, "runs commands"},
		{changed(`"opponents":["random"]`, `"opponents":["learned:weights=`+sumOf("")+`"]`), games, wire.BadParams, "call upload first"},
		{changed(`"opponents":["random"]`, `"opponents":["first"]`), games, wire.BadState, "memory of 8 bytes, want none"},
		{changed(`"policy":"first"`, `"policy":""`), games, wire.BadState, "a rollout policy for seat 0, which is not expected"},
		{changed(`"policy":"first"`, `"policy":"random"`), games, wire.BadState, "memory of 0 bytes, want 8"},
		{head, games[:len(all[0])], wire.BadState, "game 1 of the checkpoint: these bytes are none"},
		{head, append(bytes.Clone(games), 1, 2), wire.BadState, "2 bytes more"},
		{head, bytes.Replace(games, []byte("BYC\x04"), []byte("BYC\x03"), 1), wire.BadState, "version 3 of the format"},
		{head, append(opponent("\x0b\x00\x00\x00\x01\x07"), all[1]...), wire.BadState, "opponent 7 of 1 in seat 1"},
		{head, append(opponent("\x0b\x00\x00\x00\x00\x00"), all[1]...), wire.BadState, "not one opponent for each seat"},
		{head, append(opponent("\x8b\x00\x00\x00\x01\x00"), all[1]...), wire.BadState, "its parts do not fit together"},
	} {
		refused(t, c.code, c.says, a[0].CallSlab("resume", nil, c.head, c.games))
	}
	for _, game := range []string{"tetrisduel", "blockbattle:classic"} {
		b := openParts(t, p, game, 2, map[string]any{"opponents": map[int]string{1: "random"}}, 0)
		require.ErrorContains(t, b[0].CallSlab("resume", nil, head, games), "game is blockbattle in the checkpoint and "+game)
	}
	require.Equal(t, wire.BadParams, code(t, a[0].CallSlab("resume", u32(1, 1), head, games)))
	require.Equal(t, wire.BadParams, code(t, a[0].CallSlab("resume", nil, head, games, map[string]any{"slot": 3})))
	require.NoError(t, a[0].CallSlab("resume", nil, head, games))
}

// FuzzResume resumes a game whose bytes were changed, with a right checksum: refused, or a game that can be played on.
func FuzzResume(f *testing.F) {
	a, head, all := saveOne(f, start(f, real(1)), 1)
	g := a[0]
	f.Add([]byte{0, 40, 255}, []byte{})
	f.Add([]byte{1, 200, 1, 1, 220, 3}, []byte{0, 12, '9'})
	f.Fuzz(func(t *testing.T, game, top []byte) {
		if err := g.CallSlab("resume", u32(0), patched(head, top), resealed(patched(all[0], game))); err != nil {
			require.Contains(t, []int{wire.BadState, wire.BadParams, wire.Opponent}, code(t, err), err)
			require.NotContains(t, err.Error(), "a bug in the server")
		}
		if err := g.Call("rollout", nil, 3, map[string]any{"policy": "first", "keep": "last"}); err != nil {
			require.Contains(t, []int{wire.NeedsReset, wire.Opponent}, code(t, err), err)
			require.NoError(t, g.Reset(nil))
		}
	})
}

// In any order, also into games with other opponents, which make room. Until all are resumed, the others need a reset.
func TestResumeInParts(t *testing.T) {
	p := start(t, real(1))
	a := startParts(t, p, "tetrisduel", 4, map[string]any{"opponents": map[int]any{1: mixed("random", 1, "first", 2)}})
	a.play(t, 0, 60, false)
	require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: "hand:ply=1"}), "for later episodes")
	head, all := a.checkpoint(t)
	require.Contains(t, string(head), `"opponents":["random","first","hand:ply=1"],"mixtures":[[],[{"number":2,"weight":1}]]`)
	whole := ask(t, a[0], "checkpoint", nil)
	require.Equal(t, []any{4, bytes.Join(all, nil)}, []any{whole["count"], whole["games"]})

	other := map[string]any{"opponents": map[int]string{1: "first"}}
	both := []parts{openParts(t, p, "tetrisduel", 4, other, 0), startParts(t, p, "tetrisduel", 4, other)}
	both[1].play(t, 0, 60, false)
	for _, b := range both {
		require.NoError(t, b[0].CallSlab("resume", u32(3, 1), head, slices.Concat(all[3], all[1])))
		require.Equal(t, wire.NeedsReset, code(t, b[0].Call("checkpoint", nil, nil)))
		require.Equal(t, wire.NeedsReset, code(t, b[0].Step(make([]byte, 2*b[0].Rows))))
		require.NoError(t, b[0].CallSlab("resume", u32(2, 0), head, slices.Concat(all[2], all[0])))
		require.NoError(t, b[0].CallSlab("resume", []byte{}, head, []byte{}), "no game at all")
	}
	same := func(options ...any) [][4]uint64 {
		want := resultsOf(t, a[0], options...)
		for _, b := range both {
			require.Equal(t, want, resultsOf(t, b[0], options...))
		}
		return want
	}
	require.Len(t, same(map[string]any{"reset": true, "games": u32(1)}), 3, "results are part of it")
	require.NotZero(t, same()[0])
	want := a.play(t, 60, 90, false)
	for _, b := range both {
		require.Equal(t, want, b.play(t, 60, 90, false))
	}
	require.NotZero(t, same()[2])
}

// Another session uploads the same weights before it resumes. All memory is given back, whether requests fail or not.
func TestResumeWithUploads(t *testing.T) {
	p := start(t, real(1))
	weights := envtest.Must(os.ReadFile("../../agents/bots/tetrisduelbot/weights/tetrisduel.safetensors"))
	name := fmt.Sprintf("sha256:%x", sha256.Sum256(weights))
	spec := "learned:ply=1,weights=" + name
	from, into := dial(t, p.unix), dial(t, p.unix)
	start := memory(t, from)
	require.NoError(t, from.Call("upload", nil, "tetrisduel", spec, weights))
	g := startGames(t, from, "tetrisduel", map[string]any{"num_envs": 3, "opponents": map[int]any{1: mixed(spec, 1, "random", 1)}})
	rolled(t, g, spec)
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "random"}), "for later episodes")
	require.NoError(t, from.Call("drop_upload", nil, name))
	c := ask(t, g, "checkpoint", nil)
	require.Equal(t, 3, c["count"])
	require.Equal(t, []any{name}, c["weights"], "of an opponent that leaves and of the policy")
	require.Equal(t, fields{"weights": weights}, ask(t, g, "weights", name))
	require.ErrorContains(t, g.Call("weights", nil, "sha256:00"), `no agent of handle 1 was loaded from "sha256:00"`)

	other := openGames(into, "tetrisduel", map[string]any{"num_envs": 3, "opponents": map[int]any{1: "first"}})
	held := memory(t, into)
	resume := func() error { return other.CallSlab("resume", nil, c["head"], c["games"]) }
	refused(t, wire.BadParams, "no such weights were uploaded in this session", resume())
	require.Equal(t, held, memory(t, into), "nothing is kept of what failed")
	require.NoError(t, into.Call("upload", nil, "tetrisduel", spec, weights))
	for range 3 {
		require.NoError(t, resume())
		require.Greater(t, memory(t, into), held)
		require.Equal(t, g.Field("opponent"), other.Field("opponent"))
	}
	require.Equal(t, rolled(t, g, spec), rolled(t, other, spec))
	require.NoError(t, other.Call("close", nil))
	require.NoError(t, g.Call("close", nil))
	require.NoError(t, into.Call("drop_upload", nil, name))
	require.Equal(t, start, memory(t, into))
}

// TestForgedHead: a checkpoint that names a program or a file, for the games in progress, for later episodes or as the
// policy, starts and reads nothing, although clients of this server are trusted to name both. What the client itself has
// named in the environment, a checkpoint may name too.
func TestForgedHead(t *testing.T) {
	p := start(t, func(c *server.Config) {
		real(1)(c)
		c.Trusted = true
	})
	proof := filepath.Join(t.TempDir(), "proof")
	program := fmt.Sprintf("exec:sh -c 'touch %s; cat'", proof)
	a := startParts(t, p, "blockbattle", 2, map[string]any{"opponents": map[int]any{1: mixed("random", 1, "first", 1)}})
	a.play(t, 0, 4, false)
	head, all := a.checkpoint(t)
	games := bytes.Join(all, nil)
	for _, text := range []string{program, "me=" + program, "hand:weights=" + proof, proof, "human"} {
		for place, format := range map[string]string{`"random"`: "%q", `"first"`: "%q", `"policy":""`: `"policy":%q`} {
			forged := bytes.Replace(head, []byte(place), fmt.Appendf(nil, format, text), 1)
			require.NotEqual(t, head, forged)
			err := a[0].CallSlab("resume", nil, forged, games)
			require.Equal(t, wire.BadParams, code(t, err), "%s: %v", text, err)
			require.NoFileExists(t, proof)
		}
	}
	require.NoError(t, a[0].CallSlab("resume", nil, head, games), "nothing has changed")

	own, tuned := filepath.Join(t.TempDir(), "w.json"), bots.Of(blockbattle.Game).Baseline
	require.NoError(t, os.WriteFile(own, tuned.Format(tuned.Weights), 0o600))
	text := "hand:weights=" + own
	require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: mixed("random", 1, text, 1)}))
	named := bytes.Replace(head, []byte(`"first"`), fmt.Appendf(nil, "%q", text), 1)
	require.NoError(t, a[0].CallSlab("resume", nil, named, games))
	b := startParts(t, p, "blockbattle", 2, map[string]any{"opponents": map[int]any{1: "random"}})
	require.Equal(t, wire.BadParams, code(t, b[0].CallSlab("resume", nil, named, games)), "of another environment")
}
