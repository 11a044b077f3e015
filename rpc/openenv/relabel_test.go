package openenv

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/games"
	"blockyard/rpc/server"
)

// Random play with other names is random play without: the same rewards and scores, and the same boards but for names.
func TestRelabelledPlay(t *testing.T) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			w := start(t, g.Name, server.Config{}, nil)
			var states []map[string]any
			var texts []string
			for _, rules := range []string{"", "relabelled"} {
				p := w.dial(t, "")
				_, r := p.send(fmt.Sprintf(`{"type": "reset", "data": {"seed": 11, "rules": %q}}`, rules))
				random := env.Rand{Word: 4}
				for k := 0; k < 40 && !r["done"].(bool); k++ {
					moves := movesOf(r)
					_, r = p.step(moves[random.Next()%uint64(len(moves))])
					require.Empty(t, r["observation"].(map[string]any)["error"])
				}
				_, s := p.send(`{"type": "state"}`)
				require.Equal(t, rules, s["rules"])
				states, texts = append(states, s), append(texts, r["observation"].(map[string]any)["text"].(string))
				again := w.dial(t, "")
				data, err := jsonOf(map[string]any{"seed": s["seed"], "rules": rules, "moves": s["moves"]})
				require.NoError(t, err)
				again.send(`{"type": "reset", "data": ` + data + `}`)
				_, replayed := again.send(`{"type": "state"}`)
				require.Equal(t, s["rewards"], replayed["rewards"])
			}
			require.Equal(t, states[0]["rewards"], states[1]["rewards"])
			require.Equal(t, states[0]["step_count"], states[1]["step_count"])
			require.NotEqual(t, states[0]["moves"], states[1]["moves"])
			require.NotEqual(t, texts[0], texts[1])
		})
	}
}

// The rules explain the names, moves of the game itself are none, and an episode without names has the usual ones.
func TestRelabelledRules(t *testing.T) {
	w := start(t, "blockbattle", server.Config{}, nil)
	p := w.dial(t, "")
	p.must("observe", map[string]any{"new_game": true, "seed": 3, "rules": "relabelled"})
	text := p.must("rules", nil)["rules"].(string)
	require.Contains(t, text, "names of its own")
	require.Contains(t, text, "spin is ")
	require.Contains(t, text, w.c.Rules)
	_, r := p.step("r0 x0 y19")
	require.Contains(t, r["observation"].(map[string]any)["error"], "is not legal here")
	p.send(`{"type": "reset"}`)
	require.NotContains(t, p.must("rules", nil)["rules"], "names of its own")
}
