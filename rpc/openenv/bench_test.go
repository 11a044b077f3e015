package openenv

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
)

// BenchmarkStep is a step of a session and its answer, without the WebSocket.
func BenchmarkStep(b *testing.B) {
	for _, game := range []string{"blockbattle", "blocking"} {
		b.Run(game, func(b *testing.B) {
			w := start(b, game, server.Config{}, nil)
			p, err := w.newSession("")
			require.NoError(b, err)
			c := socket{srv: w.Server, session: p}
			r, err := p.reset(resetOptions{})
			require.NoError(b, err)
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				if r.Done {
					r, err = p.reset(resetOptions{})
				} else {
					r, err = p.play(r.Observation.LegalMoves[n%len(r.Observation.LegalMoves)])
				}
				if err == nil {
					err = c.encode(reply{"observation", r})
				}
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkFork is one branch of a game in progress, and its release.
func BenchmarkFork(b *testing.B) {
	for _, game := range []string{"blockbattle", "tetrisduel", "blocking", "wintetris", "dropblox"} {
		b.Run(game, func(b *testing.B) {
			most := limits.DefaultLimits()
			most.MaxSessions, most.MaxFiles = 2*mostForks, 1<<20
			w := start(b, game, server.Config{Limits: most}, nil)
			p, err := w.newSession("")
			require.NoError(b, err)
			_, err = p.reset(resetOptions{})
			require.NoError(b, err)
			b.ReportAllocs()
			b.ResetTimer()
			for left := b.N; left > 0; {
				seed, n := uint64(left), min(left, mostForks)
				_, err := fork(p, forkArguments{N: n, Seed: &seed})
				require.NoError(b, err)
				_, err = release(p, releaseArguments{})
				require.NoError(b, err)
				left -= n
			}
		})
	}
}
