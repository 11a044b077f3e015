package server

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

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
	if fit := s.fits(each); fit < len(list) {
		if fit == 0 || !parts {
			return s.srv.ledger.ExceedsReply(len(list)*each + replyRoom)
		}
		list = list[:fit]
	}
	if err := s.reserve(len(list) * each); err != nil {
		return err
	}
	return s.reply(f.ID, append(last.fields(list, make([]byte, len(list)*each)), "ended", len(h.ended)))
}

// fits is how many games of so many bytes each fit into one message.
func (s *session) fits(each int) int { return (s.srv.limits.MaxReply - replyRoom) / each }

// pushFinal makes every step that ends games be followed by a notification with their last observations.
func (s *session) pushFinal(f *wire.Frame, h *handle) error {
	if h.c.Autoreset != vec.SameStep {
		return wire.Errorf(wire.BadParams, "push_final: the autoreset mode is %v, want SameStep", h.c.Autoreset)
	}
	h.pushes = true
	return s.reply(f.ID, true)
}

// pushes are memory for notifications; to allocate it at every step would keep the garbage collector busy.
var pushes = sync.Pool{New: func() any { return new([]byte) }}

// showEnds is show after a step that ended games, and the notification as one message with it. Without memory for the
// games the notification has none of them: the client then asks for them, as for those that do not fit.
func (s *session) showEnds(id uint32, h *handle, p *place) error {
	last := h.lastRows()
	each := last.size()
	list := h.ended[:min(len(h.ended), s.fits(each))]
	if s.sender.Try(len(list)*each) != nil {
		list = nil
	}
	memory := pushes.Get().(*[]byte)
	defer pushes.Put(memory)
	*memory = slices.Grow((*memory)[:0], len(list)*each)
	pushed, err := wire.Notify("final", h.id, id, append(last.fields(list, *memory), "ended", len(h.ended)))
	if err != nil {
		return err
	}
	s.write(append([][]byte{s.response(id, h, p)}, pushed...)...)
	return nil
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

// fields is the result of final for some of the games that ended, written to memory of size bytes for each of them.
func (l *lastRows) fields(list []int, memory []byte) wire.Fields {
	memory = memory[:0]
	from := func(at int) []byte { return memory[at:len(memory):len(memory)] }
	for _, i := range list {
		memory = binary.LittleEndian.AppendUint32(memory, uint32(i))
	}
	envs, at := from(0), len(memory)
	for _, i := range list {
		memory = binary.LittleEndian.AppendUint32(memory, uint32(l.h.env.LastLength(i)))
	}
	lengths := from(at)
	of := func(slab []byte) []byte {
		width, at := len(slab)/l.h.c.Envs, len(memory)
		for _, i := range list {
			memory = append(memory, slab[i*width:(i+1)*width]...)
		}
		return from(at)
	}
	return wire.Fields{"envs", envs, "planes", of(l.planes), "globals", of(l.globals), "mask", of(l.legal),
		"seat", of(l.seat), "scores", of(l.score), "lengths", lengths, "opponents", of(l.opponents)}
}
