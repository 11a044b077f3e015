package dropbloxbot

import (
	"testing"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env/dropblox"
)

// middles are problems of a game in progress, every 20th turn of one.
func middles(tb testing.TB) (out []*Problem) {
	tb.Helper()
	var s dropblox.State
	s.Reset(4)
	b := NewBeam(&Hand{Classic})
	for !s.Failed && s.Turns < 200 {
		p := Of(&s)
		if s.Turns%20 == 19 {
			out = append(out, p)
		}
		at, _, _ := b.Choose(p, 3, search.Clock{})
		way, _ := s.Path(at.Action(), nil)
		s.Play(way)
	}
	return out
}

// even is a net of equal small weights.
func even(tb testing.TB) *mlp.Net {
	first := mlp.Layer{In: Len, Out: 32, W: make([]float32, 32*Len), B: make([]float32, 32)}
	last := mlp.Layer{In: 32, Out: 1, W: make([]float32, 32), B: make([]float32, 1)}
	for k := range first.W {
		first.W[k] = -0.01
	}
	for k := range last.W {
		last.W[k] = 1
	}
	n, err := mlp.New([]mlp.Layer{first, last})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}
