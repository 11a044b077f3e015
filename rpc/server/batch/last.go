package batch

import (
	"encoding/binary"

	"blockyard/env/vec"
	"blockyard/rpc/server/memory"
)

// Last are the slabs with the last observations of the games that ended in the last step. A field that was not
// selected is nil.
type Last struct {
	b                         *Batch
	planes, legal, seat       []byte
	globals, score, opponents []byte
}

// Last returns them. They are valid until the next step.
func (b *Batch) Last() *Last {
	v := b.now.batch
	l := &Last{b: b, planes: v.Planes, globals: memory.Bytes(v.Globals), legal: v.Legal, seat: v.Seat,
		opponents: memory.Bytes(v.Opponent), score: memory.Bytes(v.Score)}
	if b.Config.Autoreset == vec.SameStep {
		l.planes, l.globals, l.seat = v.FinalPlanes, memory.Bytes(v.FinalGlobals), v.FinalSeat
		l.opponents = memory.Bytes(v.FinalOpponent)
		if v.Legal != nil { // masks are wanted
			l.legal = v.FinalLegal
		}
	}
	return l
}

// Size is how many bytes LastGames has per game.
func (l *Last) Size() int {
	all := len(l.planes) + len(l.globals) + len(l.legal) + len(l.seat) + len(l.score) + len(l.opponents)
	return all/l.b.Config.Envs + 4 + 4
}

// LastGames are the last observations of some games that ended, one after the other in each field.
type LastGames struct {
	Envs, Planes, Globals, Mask, Seat, Scores, Lengths, Opponents []byte
}

// Of returns those of some games, written to buf, which has room for Size bytes for each of them.
func (l *Last) Of(list []int, buf []byte) LastGames {
	buf = buf[:0]
	from := func(at int) []byte { return buf[at:len(buf):len(buf)] }
	for _, i := range list {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(i))
	}
	envs, at := from(0), len(buf)
	for _, i := range list {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(l.b.Env.LastLength(i)))
	}
	lengths := from(at)
	of := func(slab []byte) []byte {
		width, at := len(slab)/l.b.Config.Envs, len(buf)
		for _, i := range list {
			buf = append(buf, slab[i*width:(i+1)*width]...)
		}
		return from(at)
	}
	return LastGames{Envs: envs, Lengths: lengths, Planes: of(l.planes), Globals: of(l.globals), Mask: of(l.legal),
		Seat: of(l.seat), Scores: of(l.score), Opponents: of(l.opponents)}
}
