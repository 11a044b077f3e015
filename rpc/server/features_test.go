package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// seen are the globals that a seat observes, as features: the first is the seat's own, the other two are shared.
type seen struct{}

func observed(s env.State, seat int) []float32 {
	globals := make([]float32, toy.Pick.Globals())
	s.Observe(seat, make([]uint8, toy.Pick.Planes.Len()), globals)
	return globals
}

func (seen) Shared(s env.State, seat int, out []float32) { copy(out, observed(s, seat)[1:]) }
func (seen) Own(s env.State, seat int, out []float32)    { copy(out, observed(s, seat)[:1]) }

func featured(c *server.Config) {
	c.Features = func(g *env.Game) *features.Set {
		if g != toy.Pick {
			return nil
		}
		return &features.Set{Names: g.GlobalNames, Own: 1, New: func() features.Reader { return seen{} }}
	}
}

func TestFeatures(t *testing.T) {
	c := dial(t, start(t, featured).unix)
	want := fields{"game": "toy", "rules": toy.Pick.Rules, "features": toy.Pick.GlobalNames, "own": 1}
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(ask(t, c, "feature_names", "toy:pick")))
	g := openGames(c, "toy:pick", map[string]any{"num_envs": 5, "seed": 4, "reward": "score"})
	require.Equal(t, wire.NeedsReset, code(t, g.Call("features", nil, nil)))
	require.NoError(t, g.Reset(nil))
	var choose chooser
	for range 9 {
		stepped(t, g, &choose)
		seed := map[string]any{"seed": 6}
		told, want := ask(t, g, "features", u32(4, 0, 2), seed), ask(t, g, "afterstates", u32(4, 0, 2), seed)
		for m, done := range want.bytes("done") {
			if done == 1 { // nobody looks at the end of a game
				clear(want.bytes("globals")[12*m : 12*(m+1)])
			}
		}
		want["features"] = want["globals"]
		delete(want, "globals")
		delete(want, "planes")
		require.Equal(t, want, told)
	}
	require.ErrorContains(t, openGames(c, "toy:turns", nil).Call("features", nil, nil), "toy:turns defines no features")
	require.Equal(t, wire.BadParams, code(t, c.Call("feature_names", nil, "toy:turns")))
	require.Equal(t, wire.UnknownGame, code(t, c.Call("feature_names", nil, "chess")))
}

// A forgetful is an agent with a long memory.
type forgetful struct{ actor }

func (*forgetful) AppendMemory(dst []byte) ([]byte, error) {
	return append(dst, make([]byte, 3000)...), nil
}
func (*forgetful) RestoreMemory([]byte) error { return nil }

// Responses about many games hold as many of them as fit, of which each is as in the response about all: of a checkpoint
// less where memories are longer than expected.
func TestResponsesComeInPages(t *testing.T) {
	open := func(reply int) *client.Games {
		p := start(t, func(c *server.Config) {
			featured(c)
			addAgent(c, "forgetful", func(uint64) (env.Agent, error) { return &forgetful{actor{choose: first}}, nil })
			c.Limits.MaxReply = reply
		})
		return startGames(t, dial(t, p.unix), "toy:pick",
			map[string]any{"num_envs": 1000, "seed": 1, "opponents": map[int]string{1: "forgetful"}})
	}
	large, small, larger := open(limits.DefaultLimits().MaxReply), open(5_000), open(66_000)
	for method, field := range map[string]string{"legal": "actions", "afterstates": "planes", "features": "features",
		"observe": "planes", "observe_text": "texts", "snapshot": "states", "checkpoint": "games"} {
		g, least := small, 5
		if method == "checkpoint" { // with 3,000 bytes of each game, which is more than it leaves room for
			g, least = larger, 11
		}
		all, page := ask(t, large, method, nil), ask(t, g, method, nil)
		require.Equal(t, 1000, all["count"], method)
		count := page["count"].(int)
		require.True(t, least <= count && count < 1000, "%s: %d", method, count)
		whole, part := fmt.Sprint(all[field]), fmt.Sprint(page[field])
		require.Equal(t, whole[:len(part)-1], part[:len(part)-1], method)
		next := ask(t, large, method, u32(uint32(count)))
		require.Equal(t, next["count"], ask(t, g, method, u32(uint32(count)))["count"], "the next one")
	}
}

// TestObserve compares what rows see with what all seats see, through the end of games.
func TestObserve(t *testing.T) {
	for _, mode := range []string{"NextStep", "Disabled"} {
		g := opened(t, "toy:pick", map[string]any{"num_envs": 3, "seed": 4, "autoreset": mode})
		require.Equal(t, wire.NeedsReset, code(t, g.Call("observe", nil, nil)))
		require.NoError(t, g.Reset(nil))
		var choose chooser
		for range 20 {
			planes, globals := g.Field("planes"), g.Field("globals")
			require.Equal(t, fields{"count": 3, "planes": planes, "globals": globals}, ask(t, g, "observe", nil))
			third := fields{"count": 1, "planes": planes[2*len(planes)/3:], "globals": globals[2*len(globals)/3:]}
			require.Equal(t, third, ask(t, g, "observe", u32(2)))
			if mode == "Disabled" && bytes.Contains(g.Field("terminated"), []byte{1}) {
				break
			}
			stepped(t, g, &choose)
		}
	}
	turns := started(t, "toy:turns", map[string]any{"num_envs": 1, "opponents": map[int]string{1: "first"}})
	all, row := ask(t, turns, "observe", nil).bytes("globals"), 4*toy.Turns.Globals()
	require.Len(t, all, 3*row, "of every seat, whoever plays it")
	require.Equal(t, turns.Field("globals"), slices.Concat(all[:row], all[2*row:]), "rows of seats 0 and 2")
	require.Equal(t, wire.BadParams, code(t, turns.Call("observe", nil, u32(1))))
}

// Through the ends of games, in every autoreset mode, over each way to change positions, in all games that there are.
func TestCandidatesAreAfterstates(t *testing.T) {
	all := append([]*env.Game{toy.Pick, toy.Turns}, games.All...)
	c := dial(t, start(t, func(c *server.Config) { c.Games, c.Features = all, bots.Features }).unix)
	for _, game := range all {
		for k, autoreset := range []string{"NextStep", "SameStep", "Disabled"} {
			of, most := "observations", []int{3, min(64, game.Actions), min(200, game.Actions)}[k]
			if bots.Features(game) != nil && k > 0 {
				of = "features"
			}
			g := startGames(t, c, game.Name, map[string]any{"num_envs": 3, "seed": 4, "first": 5, "reward": "score",
				"max_episode_steps": 8, "autoreset": autoreset, "candidates": map[string]any{"most": most, "of": of}})
			var choose chooser
			for range 12 {
				requireCandidates(t, g, of, most)
				if autoreset == "Disabled" && bytes.Contains(or(g.Field("terminated"), g.Field("truncated")), []byte{1}) {
					require.NoError(t, g.Reset(nil))
				}
				stepped(t, g, &choose)
			}
			kept := ask(t, g, "snapshot", nil)["states"]
			require.NoError(t, g.CallSlab("clone", u32(0), u32(2)))
			requireCandidates(t, g, of, most)
			require.NoError(t, g.CallSlab("restore", nil, kept))
			requireCandidates(t, g, of, most)
			require.Equal(t, wire.BadParams, code(t, g.Call("send", nil, u32(0), none(g.RowsPerEnv))))
			require.NoError(t, g.Call("close", nil))
		}
	}
}

// requireCandidates wants in each row the entries of a response to afterstates or features, all or some evenly spaced.
func requireCandidates(t *testing.T, g *client.Games, of string, most int) {
	method, names := "afterstates", []string{"globals", "planes", "actions", "reward", "done"}
	if of == "features" {
		method, names = "features", []string{"features", "actions", "reward", "done"}
	}
	at := ask(t, g, "snapshot", nil).bytes("states")
	for i := range g.NumEnvs {
		steps := binary.LittleEndian.Uint32(at[i*g.StateLen+12:])
		want := ask(t, g, method, u32(uint32(i)), map[string]any{"seed": steps})
		ends := numbers[uint32](want.bytes("indptr"))
		for r := range g.RowsPerEnv {
			first, all := int(ends[r]), int(ends[r+1]-ends[r])
			for _, name := range names {
				width := len(want.bytes(name)) / int(ends[len(ends)-1])
				field, row, nobody := "candidate_"+name, []byte(nil), byte(0)
				if name == "actions" {
					field, nobody = "candidate", 0xff
				}
				for k := range min(most, all) {
					if all > most {
						k = ((k+1)*all+most-1)/most - 1
					}
					row = append(row, want.bytes(name)[(first+k)*width:][:width]...)
				}
				row = append(row, bytes.Repeat([]byte{nobody}, most*width-len(row))...)
				got := g.Field(field)[(i*g.RowsPerEnv+r)*most*width:][:most*width]
				require.Equal(t, row, got, "game %d, row %d: %s of %d", i, r, name, all)
			}
		}
	}
}

func TestCandidatesAreRefused(t *testing.T) {
	c := dial(t, start(t, featured).unix)
	for want, what := range map[string]map[string]any{
		"most is 0, want 1 to":                      {"most": 0, "of": "observations"},
		"most is 99999, want 1 to":                  {"most": 99999, "of": "observations"},
		`of is "", want "features"`:                 {"most": 1},
		"candidates: toy:turns defines no features": {"most": 1, "of": "features"},
	} {
		refused(t, wire.BadParams, want, envtest.Failed(c.Open("toy:turns", map[string]any{"candidates": what})))
	}
}

// candidates opens and resets n games with 40 candidates in each row.
func candidates(t testing.TB, c *client.Client, game string, n int) *client.Games {
	what := map[string]any{"most": 40, "of": "features"}
	return startGames(t, c, game, map[string]any{"num_envs": n, "seed": 1, "autoreset": "SameStep", "candidates": what})
}

// parsed asks a server what actions texts are.
func parsed(c *client.Client, game string, texts ...string) ([]byte, error) {
	out := map[string][]byte{}
	err := c.Call("parse", &out, game, map[string]any{"texts": texts})
	return out["actions"], err
}

// In every game, parse returns the actions that text was asked about, and its errors show a text that is right.
func TestParseIsTheInverseOfText(t *testing.T) {
	c := dial(t, start(t, func(c *server.Config) { c.Games = games.All }).unix)
	for _, g := range games.All {
		actions := u16(0, 3, uint16(g.Actions-1), 65535, 1)
		require.Equal(t, actions, envtest.Must(parsed(c, g.Name, result[[]string](t, c, "text", g.ID, actions)...)), g.Name)
		_, err := parsed(c, g.Name, "none", "up up and away")
		refused(t, wire.BadParams, `parse: texts[1] "up up and away" is no action of `+g.Name+`: want a text such as "`, err)
		_, example, _ := strings.Cut(err.Error(), `such as "`)
		require.NoError(t, envtest.Failed(parsed(c, g.Name, strings.TrimRight(example, `"`))), "the example of the error")
	}
	_, err := parsed(c, "blocking", strings.Repeat("A", 100_000))
	require.Less(t, len(err.Error()), 300)
	require.Equal(t, wire.UnknownGame, code(t, c.Call("parse", nil, "chess", map[string]any{"texts": []string{"e4"}})))
	require.Equal(t, wire.BadParams, code(t, c.Call("parse", nil, "blocking", map[string]any{"texts": "A"})))
}

// A row's text says whose turn it is and what may be played, for every game and form of rows.
func TestObserveText(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Games = games.All; c.Limits.MaxReply = 64 << 10 })
	for _, g := range games.All {
		for _, rows := range []string{"seat", "acting"} {
			c := dial(t, p.unix)
			h := startGames(t, c, g.Name, map[string]any{"num_envs": 3, "rows": rows, "seed": 1})
			roll(t, h, 3)
			require.NoError(t, h.CallSlab("clone", []byte{}, []byte{}))
			out := ask(t, h, "observe_text", nil)
			texts := out["texts"].([]any)
			require.Equal(t, h.RowsPerEnv*out["count"].(int), len(texts))
			require.NotEmpty(t, texts)
			frame := result[string](t, h, "render", 0)
			mask, seats := h.Field("mask"), h.Field("seat")
			for r := range h.RowsPerEnv {
				text := texts[r].(string)
				require.NotContains(t, text, "\x1b")
				require.True(t, strings.HasPrefix(text, g.ID+": "), text)
				require.Contains(t, text, frame)
				_, list, turn := strings.Cut(text, " legal actions: ")
				require.Equal(t, seats[r] != 0xff, turn)
				require.Equal(t, turn, strings.Contains(text, "It is your turn."))
				if !turn {
					continue
				}
				actions := envtest.Must(parsed(c, g.Name, strings.Split(strings.TrimSpace(list), "; ")...))
				each := len(mask) / h.Rows
				want := make([]byte, each)
				for _, a := range numbers[uint16](actions) {
					want[a>>3] |= 1 << (a & 7)
				}
				require.Equal(t, mask[r*each:(r+1)*each], want)
			}
			out = ask(t, h, "observe_text", u32(2), map[string]any{"legal": false})
			require.Equal(t, 1, out["count"])
			require.NotContains(t, out["texts"].([]any)[0], "legal actions")
		}
	}
}
