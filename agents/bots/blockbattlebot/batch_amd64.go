//go:build amd64 && !noasm

package blockbattlebot

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX2 {
		vectorCounts, vectorRows = append(vectorCounts, countAVX2), rowsAVX2
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPOPCNTDQ {
		vectorCounts = append(vectorCounts, countAVX512)
	}
}

// count4 is batch.count for 1 to 8 boards, four at a time. work is memory.
//
//go:noescape
func count4(b *batch, work *uint64, terms *int32, least, n int)

// count8 is batch.count for eight boards.
//
//go:noescape
func count8(b *batch, work *uint64, terms *int32, least int)

func countAVX2(b *batch, terms *[Terms][8]int32, least, n int) {
	count4(b, &b.work[0][0], &terms[0][0], least, n)
}

func countAVX512(b *batch, terms *[Terms][8]int32, least, _ int) {
	count8(b, &b.work[0][0], &terms[0][0], least)
}

// surface8 sets the counts that come from the boards, side by side, after count4 or count8 with the same memory.
//
//go:noescape
func surface8(b *batch, work *uint64, terms, side *int32, threat int)

// dig8 is shape.digs side by side but for what begins at laterAt, after surface8 with the same memory.
//
//go:noescape
func dig8(b *batch, work *uint64, side *int32)

// later8 is the rest of shape.digs, after dig8 with the same memory.
//
//go:noescape
func later8(b *batch, work *uint64, side *int32)

// turn8 makes rows of counts that are side by side.
//
//go:noescape
func turn8(side, rows *int32)

func rowsAVX2(t *table, threat, n int) {
	b := &t.boards
	b.count(&t.terms, threat+3, n)
	surface8(b, &b.work[0][0], &t.terms[0][0], &t.side[0][0], threat)
	dig8(b, &b.work[0][0], &t.side[0][0])
	later8(b, &b.work[0][0], &t.side[0][0])
	turn8(&t.side[0][0], &t.rows[0][0])
}
