package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// BenchmarkStep steps games whose seats make no move, in process and over each transport;
// the server runs in the same process, so that allocs/op counts both ends.
func BenchmarkStep(b *testing.B) {
	p := start(b, nil)
	for _, game := range []*env.Game{toy.Pick, blockbattle.Game} {
		for _, n := range []int{64, 1024, 4096} {
			name := fmt.Sprintf("%s/%d/", game.Name, n)
			b.Run(name+"process", func(b *testing.B) { benchProcess(b, game, n) })
			b.Run(name+"unix", func(b *testing.B) { benchWire(b, p.unix, game, n) })
			b.Run(name+"tcp", func(b *testing.B) { benchWire(b, p.tcp, game, n) })
		}
	}
}

func benchProcess(b *testing.B, game *env.Game, n int) {
	e, err := vec.New(game, vec.Config{Envs: n})
	require.NoError(b, err)
	defer e.Close()
	out, err := e.NewBatch()
	require.NoError(b, err)
	require.NoError(b, e.Reset(vec.From(1), nil, out))
	actions := make([]env.Action, n*e.Rows())
	for i := range actions {
		actions[i] = env.None
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Step(actions, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(actions))/b.Elapsed().Seconds(), "seat-steps/s")
}

func benchWire(b *testing.B, address string, game *env.Game, n int) {
	c := dial(b, address)
	c.Timeout = 0
	g, err := c.Open(game.Name, map[string]any{"num_envs": n, "seed": 1})
	require.NoError(b, err)
	require.NoError(b, g.CallSlab("reset"))
	step := quick(b, g)
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(b.N)*float64(g.Rows)/b.Elapsed().Seconds(), "seat-steps/s")
	require.NoError(b, c.Close())
}
