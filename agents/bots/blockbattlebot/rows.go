package blockbattlebot

import (
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

var _ features.BatchReader = (*FeatureReader)(nil)

// Where counts begin in a row: those after the columns, the fits and the digs. A row is padded to padLen.
const (
	restAt = columns + 2*(columns-1)
	fitsAt = digsAt - fitLen
	digsAt = OwnLen - digLen
	padLen = (OwnLen + 7) &^ 7
)

// A table is the counts of up to eight positions.
type table struct {
	boards batch
	terms  [Terms][8]int32
	side   [padLen][8]int32 // side by side, before they become rows
	rows   [8][padLen]int32
}

// vectorRows sets the rows of n positions, given their boards and, side by side, what does not come from the board. It
// is nil if the machine does not have vector instructions.
var vectorRows func(t *table, threat, n int)

// Batch implements features.BatchReader.
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

// Row implements features.BatchReader.
func (r *FeatureReader) Row(k int) []int32 { return r.table.rows[k][:OwnLen] }

// stock sets the counts of position k that do not come from its board, as write does.
func (r *FeatureReader) stock(k int, side *blockbattle.Side, sent int) {
	k &= 7
	rest, extra, room := r.table.side[restAt:halfLen], r.table.side[halfLen:OwnLen], r.shape.minFree
	over := uint32(side.Points) % blockbattle.PerGarbage
	rest[23][k] = int32(over)
	rest[24][k] = features.Yes(over == blockbattle.PerGarbage-1)
	rest[25][k] = capped(side.Combo, 8)
	rest[26][k] = capped(side.Skips, 6)
	extra[0][k] = int32(sent)
	extra[1][k] = int32(room - sent)
	extra[2][k] = features.Yes(sent > room)
	extra[10][k] = capped(side.Skips, 4)
	extra[11][k] = int32(sent * features.Over(10, room))
}
