package blockbattlebot

import (
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/falling"
)

// A batch is up to eight boards that are measured side by side.
type batch struct {
	w     [4][8]uint64 // the boards, as lanes gives them
	floor [8]uint64

	work [Terms + 4 + 16][8]uint64 // memory of the kernels: sums, open cells and what else they need
}

func (b *batch) set(k int, f *falling.Field, solid int) {
	floor := blockbattle.Height - solid
	w := lanes(f, floor)
	b.put(k, w[0], w[1], w[2], w[3], floor)
}

func (b *batch) put(k int, w0, w1, w2, w3 uint64, floor int) {
	k &= 7
	b.w[0][k], b.w[1][k], b.w[2][k], b.w[3][k], b.floor[k] = w0, w1, w2, w3, uint64(floor)
}

// vectorCounts are batch.count in vector instructions, the fastest last. It is empty if the machine does not have them.
var vectorCounts []func(b *batch, terms *[Terms][8]int32, least, n int)

// count sets the terms of n boards that come from the board alone, for a side that needs room for least rows.
func (b *batch) count(terms *[Terms][8]int32, least, n int) {
	if f := len(vectorCounts); f > 0 {
		vectorCounts[f-1](b, terms, least, n)
		return
	}
	b.countPlain(terms, least, n)
}

func (b *batch) countPlain(terms *[Terms][8]int32, least, n int) {
	var s shape
	for k := 0; k < n; k++ {
		b.read(k, &s)
		s.terms(terms, k, least)
	}
}

func (b *batch) read(k int, s *shape) {
	k &= 7
	s.read(b.w[0][k], b.w[1][k], b.w[2][k], b.w[3][k], int(b.floor[k]))
}

var _ features.BatchReader = (*FeatureReader)(nil)

// Where counts begin in a row: those after the columns, the fits and the digs. A row is padded to padLen.
const (
	restAt = columns + 2*(columns-1)
	fitsAt = digsAt - fitLen
	digsAt = OwnLen - digLen
	padLen = (OwnLen + 7) &^ 7
)

// A table is the counts of up to eight positions, first side by side and then as a row for each.
type table struct {
	boards batch
	terms  [Terms][8]int32
	side   [padLen][8]int32 // side by side, before they become rows
	rows   [8][padLen]int32
}

// vectorRows sets the rows of n positions from their boards and what stock has set; nil without such instructions.
var vectorRows func(t *table, threat, n int)

// Batch implements features.BatchReader. It sets all rows with vector instructions where the processor has them.
func (r *FeatureReader) Batch(legal []env.Action, at *[8]int) (n, used int) {
	t := &r.table
	for ; used < len(legal) && n < len(at); used++ {
		side, sent, ok := r.leaf.after(legal[used], &t.boards, n)
		if !ok {
			continue
		}
		if vectorRows != nil {
			r.stock(n, side, sent)
		} else {
			t.boards.read(n, &r.own)
			r.write(side, sent, t.rows[n][:])
		}
		at[n] = used
		n++
	}
	if vectorRows != nil && n > 0 {
		vectorRows(t, r.threat, n)
	}
	return n, used
}

// Row implements features.BatchReader: OwnLen counts, in memory of the reader.
func (r *FeatureReader) Row(k int) []int32 { return r.table.rows[k][:OwnLen] }

// stock sets the counts of position k that do not come from its board, as write does.
func (r *FeatureReader) stock(k int, side *blockbattle.Side, sent int) {
	k &= 7
	rest, extra, room := r.table.side[restAt:halfLen], r.table.side[halfLen:OwnLen], r.shape.minFree
	over := uint32(side.Points) % blockbattle.PerGarbage
	rest[23][k] = int32(over)
	rest[24][k] = features.Yes(over == blockbattle.PerGarbage-1)
	rest[25][k] = min(side.Combo, 8)
	rest[26][k] = min(side.Skips, 6)
	extra[0][k] = int32(sent)
	extra[1][k] = int32(room - sent)
	extra[2][k] = features.Yes(sent > room)
	extra[10][k] = min(side.Skips, 4)
	extra[11][k] = int32(sent * features.Over(10, room))
}
