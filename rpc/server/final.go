package server

import (
	"encoding/binary"
	"math"

	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// final returns the last observations of the games that ended in the last step. With param 1 these are as many as fit
// into one response, from that one on; without it, as clients call it that know no parts, all or none.
func (s *session) final(f *wire.Frame, h *handle) error {
	first, parts := int64(0), !f.Absent(1)
	if parts {
		var err error
		if first, err = f.Int(1, "first", 0, math.MaxUint32); err != nil {
			return err
		}
	}
	last := h.lastRows()
	list, each := h.ended[min(int(first), len(h.ended)):], last.size()
	if fit := (s.srv.limits.MaxReply - replyRoom) / each; fit < len(list) {
		if fit == 0 || !parts {
			return s.srv.exceedsReply(len(list)*each + replyRoom)
		}
		list = list[:fit]
	}
	release, err := s.srv.reserve(len(list) * each)
	if err != nil {
		return err
	}
	defer release()
	return s.reply(f.ID, append(last.fields(list), "ended", len(h.ended)))
}

// lastRows are the slabs from which final takes the last observations of games that ended. A field that was not
// selected is nil.
type lastRows struct {
	h                         *handle
	planes, legal, seat       []byte
	globals, score, opponents []byte
}

func (h *handle) lastRows() *lastRows {
	b := h.now.batch
	l := &lastRows{h: h, planes: b.Planes, globals: bytesOf(b.Globals), legal: b.Legal, seat: b.Seat,
		opponents: bytesOf(b.Opponent), score: bytesOf(b.Score)}
	if h.c.Autoreset == vec.SameStep {
		l.planes, l.globals, l.seat = b.FinalPlanes, bytesOf(b.FinalGlobals), b.FinalSeat
		l.opponents = bytesOf(b.FinalOpponent)
		if b.Legal != nil { // masks are wanted
			l.legal = b.FinalLegal
		}
	}
	return l
}

// size is how many bytes of a response one game takes.
func (l *lastRows) size() int {
	all := len(l.planes) + len(l.globals) + len(l.legal) + len(l.seat) + len(l.score) + len(l.opponents)
	return all/l.h.c.Envs + 4 + 4
}

// fields is the result of final for some of the games that ended.
func (l *lastRows) fields(list []int) wire.Fields {
	envs, lengths := make([]byte, 0, 4*len(list)), make([]byte, 0, 4*len(list))
	for _, i := range list {
		envs = binary.LittleEndian.AppendUint32(envs, uint32(i))
		lengths = binary.LittleEndian.AppendUint32(lengths, uint32(l.h.env.LastLength(i)))
	}
	of := func(slab []byte) []byte {
		width := len(slab) / l.h.c.Envs
		out := make([]byte, 0, len(list)*width)
		for _, i := range list {
			out = append(out, slab[i*width:(i+1)*width]...)
		}
		return out
	}
	return wire.Fields{"envs", envs, "planes", of(l.planes), "globals", of(l.globals), "mask", of(l.legal),
		"seat", of(l.seat), "scores", of(l.score), "lengths", lengths, "opponents", of(l.opponents)}
}
