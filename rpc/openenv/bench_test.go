package openenv

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
)

// BenchmarkStep is a step of a session and its answer, without the WebSocket.
func BenchmarkStep(b *testing.B) {
	for _, game := range []string{"blockbattle", "blocking"} {
		b.Run(game, func(b *testing.B) {
			w := start(b, game, server.Config{}, nil)
			p, err := w.newSession("", nil)
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
					err = c.encode("observation", r)
				}
				require.NoError(b, err)
			}
		})
	}
}
