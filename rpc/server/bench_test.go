package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire/client"
)

// BenchmarkStep steps games whose seats make no move, over each transport, also with records of episodes and with the
// features of afterstates. The server runs in the same process, so that allocs/op counts both ends.
func BenchmarkStep(b *testing.B) {
	p := start(b, func(c *server.Config) { c.Games, c.Features = append(c.Games, games.All...), bots.Features })
	run := func(name string, open func(c *client.Client) *client.Games) {
		for transport, address := range map[string]string{"unix": p.unix, "tcp": p.tcp} {
			b.Run(name+"/"+transport, func(b *testing.B) {
				g := open(dial(b, address))
				step := quick(b, g)
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
				b.ReportMetric(float64(b.N)*float64(g.Rows)/b.Elapsed().Seconds(), "seat-steps/s")
				require.NoError(b, g.Client().Close())
			})
		}
	}
	for _, game := range []string{"toy:pick", "blockbattle"} {
		for _, n := range []int{64, 1024, 4096} {
			run(fmt.Sprintf("%s/%d", game, n), func(c *client.Client) *client.Games {
				return startGames(b, c, game, map[string]any{"num_envs": n, "seed": 1})
			})
		}
	}
	for _, every := range []int{100, 1} {
		run(fmt.Sprintf("recording=%d", every), func(c *client.Client) *client.Games {
			g := openGames(b, c, "blockbattle", map[string]any{"num_envs": 256, "seed": 1, "max_episode_steps": 50})
			recordOne(b, g, every)
			return g
		})
	}
	for _, game := range []string{"blockbattle", "tetrisduel"} {
		run(game+"/candidates", func(c *client.Client) *client.Games { return candidates(b, c, game, 64) })
	}
}
