package openenv

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"blockyard/env/envtest"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
)

// BenchmarkSessions is five steps in each of 64 sessions over WebSockets, on a server in this process, or on the one at
// the address OPENENV_URL: rpc/bench/openenv_speed.py compares servers by it.
func BenchmarkSessions(b *testing.B) {
	url := os.Getenv("OPENENV_URL")
	if url == "" {
		url = start(b, "blockbattle", server.Config{}, nil).url
	}
	var players [64]struct {
		*websocket.Conn
		last struct { // answer
			Data struct {
				Done        bool
				Observation *struct {
					LegalMoves []string `json:"legal_moves"`
				}
			}
		}
	}
	ask := func(k int, kind string, data map[string]any) error {
		p := &players[k]
		p.last.Data.Observation = nil
		err := wsjson.Write(b.Context(), p.Conn, map[string]any{"type": kind, "data": data})
		if err = errors.Join(err, wsjson.Read(b.Context(), p.Conn, &p.last)); err == nil && p.last.Data.Observation == nil {
			err = fmt.Errorf("%s %v is refused", kind, data)
		}
		return err
	}
	all := func(do func(k int) error) {
		var group errgroup.Group
		for k := range players {
			group.Go(func() error { return do(k) })
		}
		require.NoError(b, group.Wait())
	}
	all(func(k int) (err error) {
		if players[k].Conn, _, err = websocket.Dial(b.Context(), url+"/ws", nil); err != nil {
			return err
		}
		players[k].SetReadLimit(1 << 20)
		return ask(k, "reset", map[string]any{"seed": k})
	})
	steps := 0
	for b.Loop() {
		all(func(k int) (err error) {
			for n := range 5 {
				at := &players[k].last.Data
				for at.Done && err == nil {
					err = ask(k, "reset", map[string]any{"seed": k + 1000*steps})
				}
				if moves := at.Observation.LegalMoves; err == nil {
					err = ask(k, "step", map[string]any{"move": moves[(k+7*(steps+n))%len(moves)]})
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		steps += 5
	}
	total := float64(steps * len(players))
	b.ReportMetric(total, "steps")
	b.ReportMetric(total/b.Elapsed().Seconds(), "steps/s")
	for k := range players {
		players[k].CloseNow()
	}
}

// BenchmarkFork is one branch of a game in progress, and its release.
func BenchmarkFork(b *testing.B) {
	for _, game := range []string{"blockbattle", "tetrisduel", "blocking", "wintetris", "dropblox"} {
		b.Run(game, func(b *testing.B) {
			most := limits.DefaultLimits()
			most.MaxSessions, most.MaxFiles = 2*mostForks, 1<<20
			w := start(b, game, server.Config{Limits: most}, nil)
			p := envtest.Must(w.newSession(nil))
			envtest.Must(p.reset(resetOptions{}))
			b.ReportAllocs()
			b.ResetTimer()
			for left := b.N; left > 0; {
				seed, n := uint64(left), min(left, mostForks)
				envtest.Must(fork(p, forkArguments{N: n, Seed: &seed}))
				envtest.Must(release(p, releaseArguments{}))
				left -= n
			}
		})
	}
}
