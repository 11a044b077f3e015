package blockbattlebot

import (
	"blockyard/env/blockbattle"
	"blockyard/env/falling"
)

// A batch is up to eight boards that are measured side by side.
type batch struct {
	w     [4][8]uint64 // the boards, as lanes gives them
	floor [8]uint64

	work [Terms + 4 + 16][8]uint64 // memory of the kernels: sums, open cells and what else they need
}

// set makes board k that of a field above its solid rows.
func (b *batch) set(k int, f *falling.Field, solid int) {
	floor := blockbattle.Height - solid
	w := lanes(f, floor)
	b.put(k, w[0], w[1], w[2], w[3], floor)
}

// put sets board k.
func (b *batch) put(k int, w0, w1, w2, w3 uint64, floor int) {
	k &= 7
	b.w[0][k], b.w[1][k], b.w[2][k], b.w[3][k], b.floor[k] = w0, w1, w2, w3, uint64(floor)
}

// vectorCounts are batch.count in vector instructions, the fastest last. It is empty if the machine does not have them.
var vectorCounts []func(b *batch, terms *[Terms][8]int32, least, n int)

// count sets the terms of n boards that come from the board alone; those of other boards become undefined. least is the
// room that a side needs.
func (b *batch) count(terms *[Terms][8]int32, least, n int) {
	if f := len(vectorCounts); f > 0 {
		vectorCounts[f-1](b, terms, least, n)
		return
	}
	b.countPlain(terms, least, n)
}

// countPlain is count in plain Go.
func (b *batch) countPlain(terms *[Terms][8]int32, least, n int) {
	var s shape
	for k := 0; k < n; k++ {
		b.read(k, &s)
		s.terms(terms, k, least)
	}
}

// read measures board k.
func (b *batch) read(k int, s *shape) {
	k &= 7
	s.read(b.w[0][k], b.w[1][k], b.w[2][k], b.w[3][k], int(b.floor[k]))
}
