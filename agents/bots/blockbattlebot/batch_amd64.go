//go:build amd64 && !noasm

package blockbattlebot

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX2 {
		vectorCounts = append(vectorCounts, countAVX2)
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
