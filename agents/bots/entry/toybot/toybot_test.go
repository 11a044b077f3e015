package toybot

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/envtest/toy"
)

// The learned evaluator is the network over the rows of features.
func TestLearnedIsTheNetworkOverTheFeatures(t *testing.T) {
	f := &Entry.Learned.Features
	n, r := len(f.Names), rand.New(rand.NewPCG(1, 2))
	layer := mlp.Layer{In: n, Out: 1, W: make([]float32, n), B: []float32{0.5}}
	for i := range layer.W {
		layer.W[i] = float32(r.NormFloat64())
	}
	net, err := mlp.New([]mlp.Layer{layer})
	require.NoError(t, err)
	e, err := Entry.Evaluator(net)
	require.NoError(t, err)
	for seed := range uint64(20) {
		s := toy.Pick.New(2)
		s.Reset(seed)
		s.Step(env.Moves{s.Legal(0, nil)[0], s.Legal(1, nil)[0], env.None, env.None})
		row, want, got := make([]float32, n), make([]float32, 1), make([]float32, 1)
		reader := f.New()
		reader.Shared(s, 1, row[f.Own:])
		reader.Own(s, 1, row[:f.Own])
		net.Forward(row, 1, want)
		e.Evaluate([]env.State{s}, 1, got)
		require.InDelta(t, want[0], got[0], 1e-5)
	}
	_, err = Entry.Evaluator(mustNet(t, 2))
	require.ErrorContains(t, err, "a net of 2 inputs")
}

func mustNet(t *testing.T, in int) *mlp.Net {
	net, err := mlp.New([]mlp.Layer{{In: in, Out: 1, W: make([]float32, in), B: make([]float32, 1)}})
	require.NoError(t, err)
	return net
}
