package server_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// TestCandidatesAreAfterstates compares what slabs say of candidates with the responses about one game at a time: through
// the ends of games, in every autoreset mode, over each way to change positions, in all games that there are.
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
				"max_episode_steps": 25, "autoreset": autoreset, "candidates": map[string]any{"most": most, "of": of}})
			var choose chooser
			for range 30 {
				requireCandidates(t, g, of, most)
				if autoreset == "Disabled" && bytes.Contains(append(g.Field("terminated"), g.Field("truncated")...), []byte{1}) {
					require.NoError(t, g.Reset(nil))
				}
				stepped(t, g, &choose)
			}
			kept := result[states](t, g, "snapshot", nil)
			require.NoError(t, g.CallSlab("clone", u32(0), u32(2)))
			requireCandidates(t, g, of, most)
			require.NoError(t, g.CallSlab("restore", nil, kept.States))
			requireCandidates(t, g, of, most)
			require.Equal(t, wire.BadParams, code(t, g.Call("send", nil, u32(0), none(g.RowsPerEnv))))
			require.NoError(t, g.Call("close", nil))
		}
	}
}

// requireCandidates wants in each row the entries of a response to afterstates or features, all or some evenly spaced.
func requireCandidates(t *testing.T, g *client.Games, of string, most int) {
	t.Helper()
	method, parts := map[string]string{"observations": "afterstates", "features": "features"}[of], []string{"globals", "planes"}
	if of == "features" {
		parts = []string{"features"}
	}
	at := result[states](t, g, "snapshot", nil)
	for i := range at.Count {
		steps := binary.LittleEndian.Uint32(at.States[i*at.Len+12:])
		want := result[map[string]any](t, g, method, u32(uint32(i)), map[string]any{"seed": steps})
		ends := numbers[uint32](want["indptr"].([]byte))
		for r := range g.RowsPerEnv {
			first, all := int(ends[r]), int(ends[r+1]-ends[r])
			for _, name := range append(parts, "actions", "reward", "done") {
				width := len(want[name].([]byte)) / int(ends[len(ends)-1])
				field := map[string]string{"actions": "candidate"}[name]
				if field == "" {
					field = "candidate_" + name
				}
				var row []byte
				for k := range min(most, all) {
					if all > most {
						k = ((k+1)*all+most-1)/most - 1
					}
					row = append(row, want[name].([]byte)[(first+k)*width:][:width]...)
				}
				nobody := byte(0)
				if name == "actions" {
					nobody = 0xff
				}
				row = append(row, bytes.Repeat([]byte{nobody}, most*width-len(row))...)
				got := g.Field(field)[(i*g.RowsPerEnv+r)*most*width:][:most*width]
				require.Equal(t, row, got, "game %d, row %d: %s of %d", i, r, name, all)
			}
		}
	}
}

// TestCandidatesAreRefused names what cannot be.
func TestCandidatesAreRefused(t *testing.T) {
	c := dial(t, start(t, featured).unix)
	for want, what := range map[string]map[string]any{
		"most is 0, want 1 to":                      {"most": 0, "of": "observations"},
		"most is 99999, want 1 to":                  {"most": 99999, "of": "observations"},
		`of is "", want "features"`:                 {"most": 1},
		"candidates: toy:turns defines no features": {"most": 1, "of": "features"},
	} {
		_, err := c.Open("toy:turns", map[string]any{"candidates": what})
		refused(t, wire.BadParams, want, err)
	}
}

// candidates opens and resets n games with 40 candidates in each row.
func candidates(t testing.TB, c *client.Client, game string, n int) *client.Games {
	t.Helper()
	what := map[string]any{"most": 40, "of": "features"}
	return startGames(t, c, game, map[string]any{"num_envs": n, "seed": 1, "autoreset": "SameStep", "candidates": what})
}
