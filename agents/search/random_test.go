package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
)

func TestRandomIsEven(t *testing.T) {
	s := blockbattle.Game.New(2)
	legal := s.Legal(0, nil)
	r := NewRandom(3)
	seen := map[env.Action]int{}
	const each = 1000
	for range each * len(legal) {
		seen[act(t, r, s, 0)]++
	}
	chi := 0.0
	for _, a := range legal {
		d := float64(seen[a] - each)
		chi += d * d / each
	}
	require.Less(t, chi, float64(len(legal))*2.5, "χ² over %d actions", len(legal))
	require.Equal(t, act(t, NewRandom(9), s, 0), act(t, NewRandom(9), s, 0))
}
