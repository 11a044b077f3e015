package blockbattle

import "blockyard/env/falling"

// within removes from reach the poses that need more than MaxTokens tokens. It is a breadth-first
// search on whole columns, one token per wave. Locking takes no token: a piece left where it
// rests locks by itself.
func (s *Side) within(free, reach *falling.Poses, turns, spawn int) {
	var seen, wave falling.Poses
	seen[0][spawn+falling.Pad] = 1
	wave = seen
	for n := 0; n < MaxTokens; n++ {
		var next falling.Poses
		left := uint64(0)
		for o := 0; o < turns; o++ {
			a, b := &wave[(o+1)%turns], &wave[(o+turns-1)%turns]
			for x := 1; x+1 < len(next[o]); x++ {
				v := (wave[o][x-1] | wave[o][x+1] | wave[o][x]<<1 | a[x] | b[x]) & free[o][x] &^ seen[o][x]
				next[o][x] = v
				seen[o][x] |= v
				left |= v
			}
		}
		if left == 0 {
			break
		}
		wave = next
	}
	// A blocked shift leads to no other pose: it steps down, as the token down does.
	for o := range reach {
		for x := range reach[o] {
			reach[o][x] &= seen[o][x] | falling.Fall(seen[o][x], free[o][x]) // an answer that ends in the air falls
		}
	}
}
