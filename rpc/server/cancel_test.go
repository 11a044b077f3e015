package server_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/rpc/server"
)

// When a client is gone, or the server stops without it, whatever searches for this client stops: no game of a request
// is played any further, and no agent is asked again.
func TestSearchesEndWithTheirClient(t *testing.T) {
	const games, workers = 400, 3
	var all []uint32
	for i := range uint32(games) {
		all = append(all, i)
	}
	for _, c := range []struct {
		name, game string
		opponents  map[int]any
		method     string
		params     []any
	}{
		{"rollout", "toy:pick", nil, "rollout", []any{1000, map[string]any{"policy": "search", "keep": "last"}}},
		{"rollout against opponents", "toy:pick", map[int]any{1: "search"}, "rollout", []any{1000, map[string]any{"keep": "last"}}},
		{"step", "toy:pick", map[int]any{1: "search"}, "step", []any{make([]byte, 2*games)}},
		{"reset", "toy:turns", map[int]any{0: "search"}, "reset", nil},
		{"send", "toy:pick", map[int]any{1: "search"}, "send", []any{u32(all...), make([]byte, 2*games)}},
	} {
		for _, end := range []string{"the client is gone", "the server stops"} {
			t.Run(c.name+": "+end, func(t *testing.T) {
				var left, late atomic.Int64  // choices until one that lasts until its context ends; those that begin after that
				begun := make(chan struct{}) // the long one
				p := start(t, func(config *server.Config) {
					config.Workers, config.Limits.DrainTimeout = workers, 50*time.Millisecond
					addAgent(config, "search", playing(func(ctx context.Context, legal []env.Action) (env.Action, error) {
						switch {
						case ctx.Err() != nil:
							late.Add(1)
						case left.Add(-1) == 0:
							close(begun)
							<-ctx.Done()
						}
						return legal[0], nil
					}))
				})
				g := startGames(t, dial(t, p.unix), c.game, map[string]any{"num_envs": games, "illegal": "random", "opponents": c.opponents})
				left.Store(100)
				go func() { _ = g.Call(c.method, nil, c.params...) }()
				<-begun
				if end == "the server stops" {
					p.stop()
				} else {
					require.NoError(t, g.Client().Close())
					p.AwaitIdle(t.Context())
				}
				require.LessOrEqual(t, late.Load(), int64(workers))
			})
		}
	}
}
