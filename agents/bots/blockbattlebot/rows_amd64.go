//go:build amd64 && !noasm

package blockbattlebot

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX2 {
		vectorRows = rowsAVX2
	}
}

// surface8 sets the counts that come from the boards, side by side, after count4 or count8 with the same memory.
//
//go:noescape
func surface8(b *batch, work *uint64, terms, side *int32, threat int)

// dig8 is shape.digs side by side, after surface8 with the same memory.
//
//go:noescape
func dig8(b *batch, work *uint64, side *int32)

// turn8 makes rows of counts that are side by side.
//
//go:noescape
func turn8(side, rows *int32)

func rowsAVX2(t *table, threat, n int) {
	b := &t.boards
	b.count(&t.terms, threat+3, n)
	surface8(b, &b.work[0][0], &t.terms[0][0], &t.side[0][0], threat)
	dig8(b, &b.work[0][0], &t.side[0][0])
	turn8(&t.side[0][0], &t.rows[0][0])
}
