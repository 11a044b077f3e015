package blockbattlebot

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"

	"blockyard/agents/bots/features"
	"blockyard/env/blockbattle"
	"blockyard/env/falling"
)

const (
	// Each column one cell higher than the last.
	stairs = `
		.........#
		........##
		.......###
		......####
		.....#####
		....######
		...#######
		..########
		.#########`
	// Each other column three cells high.
	cliffs = `
		#.#.#.#.#.
		#.#.#.#.#.
		#.#.#.#.#.`
)

// pieceCells are the pieces in the order their features have, cells as x and height.
var pieceCells = [7][4][2]int{
	{{0, 0}, {1, 0}, {2, 0}, {3, 0}},
	{{0, 0}, {1, 0}, {0, 1}, {1, 1}},
	{{0, 0}, {1, 0}, {1, 1}, {2, 1}},
	{{1, 0}, {2, 0}, {0, 1}, {1, 1}},
	{{0, 0}, {1, 0}, {2, 0}, {1, 1}},
	{{0, 0}, {1, 0}, {2, 0}, {0, 1}},
	{{0, 0}, {1, 0}, {2, 0}, {2, 1}},
}

// slowFits counts the places of a piece cell by cell, turning it through its orientations.
func slowFits(f *falling.Field, floor, piece int) int {
	heightOf := func(x int) int {
		for y := 0; y < floor; y++ {
			if f.At(x, y) {
				return floor - y
			}
		}
		return 0
	}
	p, seen, n := pieceCells[piece], map[[16]bool]bool{}, 0
	for turn := 0; turn < 4; turn++ {
		least, lowest := 9, 9
		for _, c := range p {
			least, lowest = min(least, c[0]), min(lowest, c[1])
		}
		var drawn [16]bool
		for i := range p {
			p[i][0], p[i][1] = p[i][0]-least, p[i][1]-lowest
			drawn[4*p[i][1]+p[i][0]] = true
		}
		if !seen[drawn] && (piece != 0 || turn == 0) {
			for x := 0; x < columns; x++ {
				if rests(p, x, heightOf) {
					n++
				}
			}
		}
		seen[drawn] = true
		for i, c := range p {
			p[i] = [2]int{c[1], -c[0]}
		}
	}
	return n
}

// rests reports whether p, its left column in column x, touches every column below it.
func rests(p [4][2]int, x int, heightOf func(int) int) bool {
	under := map[int]int{}
	for _, c := range p {
		if x+c[0] >= columns {
			return false
		}
		if low, ok := under[c[0]]; !ok || c[1] < low {
			under[c[0]] = c[1]
		}
	}
	for dx, low := range under {
		if heightOf(x+dx)-low != heightOf(x)-under[0] {
			return false
		}
	}
	return true
}

func TestFitsAgainstTwin(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	var some, none [7]int
	for i := range 20_000 {
		f, solid := randomField(r)
		var s shape
		s.measure(&f, solid)
		var out [fitLen]int32
		tops := s.tops()
		fits(&tops, out[:])
		for piece := range pieceCells {
			n := slowFits(&f, blockbattle.Height-solid, piece)
			require.Equal(t, int32(min(n, 4)), out[piece],
				"seed %d, position %d, piece %d\n%v", *seed, i, piece, drawn(&f, solid))
			if piece > 0 {
				require.Equal(t, features.Yes(n == 0), out[6+piece])
			}
			if n > 0 {
				some[piece]++
			} else {
				none[piece]++
			}
		}
	}
	for piece := range pieceCells {
		require.Greater(t, some[piece], 50, piece)
		require.Greater(t, none[piece], 50, piece)
	}
}

// The squares and products repeat terms of the hand-tuned evaluator.
func TestTermsAmongFeatures(t *testing.T) {
	index := map[string]int{}
	for i, n := range FeatureNames {
		index[n] = i
	}
	r := rand.New(rand.NewSource(*seed))
	h := NewHand()
	var x [Len]float32
	for i := 0; i < 3000; i++ {
		s := randomState(r)
		fill(s, 0, x[:])
		h.Evaluate([]env.State{s}, 0, make([]float32, 1))
		for name, c := range map[string]struct {
			term Term
			unit float32
		}{
			"own bumps": {Bumps, 20}, "own peak squared": {Peak, 50}, "own spawn lack squared": {Spawn, 8},
			"own four ready": {Quad, 1}, "own double ready": {Doubles, 1}, "own few skips": {Skips, 2},
			"rows sent into little room": {Pressed, 30}, "own exposure squared": {Exposed, 50},
		} {
			got, want := float32(h.terms[c.term][0]), x[index[name]]*c.unit
			require.InEpsilon(t, 1+got, 1+want, 1e-5, "%s, seed %d, position %d", name, *seed, i)
		}
	}
}
