package server_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire/client"
)

// A searcher is an agent whose choice, once a test wants it, lasts until its context ends. It counts choices that begin
// after that.
type searcher struct {
	first
	*searchers
}

// searchers are what all searchers of a server share.
type searchers struct {
	left    atomic.Int64  // choices until the long one
	begun   chan struct{} // the long one
	late    atomic.Int64
	decided atomic.Int64
}

func (a *searcher) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	a.decided.Add(1)
	switch {
	case ctx.Err() != nil:
		a.late.Add(1)
	case a.left.Add(-1) == 0:
		close(a.begun)
		<-ctx.Done()
	}
	return a.first.Act(ctx, s, seat)
}

// When a client is gone, or the server stops without it, whatever searches for this client stops: no game of a request
// is played any further, and no agent is asked again.
func TestSearchesEndWithTheirClient(t *testing.T) {
	const games, workers = 400, 3
	for _, c := range []struct {
		name, game string
		opponents  map[int]any
		ask        func(g *client.Games)
	}{
		{"rollout", "toy:pick", nil, func(g *client.Games) {
			_ = g.Call("rollout", nil, 1000, map[string]any{"policy": "search", "keep": "last"})
		}},
		{"rollout against opponents", "toy:pick", map[int]any{1: "search"}, func(g *client.Games) {
			_ = g.Call("rollout", nil, 1000, map[string]any{"keep": "last"})
		}},
		{"step", "toy:pick", map[int]any{1: "search"}, func(g *client.Games) {
			_ = g.CallSlab("step", make([]byte, 2*games))
		}},
		{"reset", "toy:turns", map[int]any{0: "search"}, func(g *client.Games) { _ = g.CallSlab("reset") }},
		{"send", "toy:pick", map[int]any{1: "search"}, func(g *client.Games) {
			envs := make([]byte, 4*games)
			for i := range games {
				envs[4*i], envs[4*i+1] = byte(i), byte(i>>8)
			}
			_ = g.Call("send", nil, envs, make([]byte, 2*games))
		}},
	} {
		for _, end := range []string{"the client is gone", "the server stops"} {
			t.Run(c.name+": "+end, func(t *testing.T) {
				all := &searchers{begun: make(chan struct{})}
				p := start(t, func(config *server.Config) {
					before := config.Agents
					config.Workers, config.Limits.DrainTimeout = workers, 50*time.Millisecond
					config.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
						if t.String() != "search" {
							return before(g, t)
						}
						return func(uint64) (env.Agent, error) { return &searcher{searchers: all}, nil }, nil
					}
				})
				conn := dial(t, p.unix)
				options := map[string]any{"num_envs": games, "illegal": "random"}
				if c.opponents != nil {
					options["opponents"] = c.opponents
				}
				g, err := conn.Open(c.game, options)
				require.NoError(t, err)
				require.NoError(t, g.CallSlab("reset"))
				all.left.Store(100)
				go c.ask(g)
				<-all.begun
				if end == "the server stops" {
					p.stop()
				} else {
					require.NoError(t, conn.Close())
					p.AwaitIdle(t.Context())
				}
				require.LessOrEqual(t, all.late.Load(), int64(workers), "of %d choices", all.decided.Load())
			})
		}
	}
}
