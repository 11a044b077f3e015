package server

import (
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// A place is memory that a step of a handle is written to: its own slab, which goes over
// the connection, or a slot of memory that the client sees too.
type place struct {
	slab    []byte
	batch   *vec.Batch
	actions []byte // of a slot: two bytes a row, little endian

	// What a client could change while it is looked at again is kept apart and copied
	// here when a step is done; see finish.
	bits, terminated, truncated []byte
}

// private are slabs that no client can reach.
type private struct {
	planes                []uint8 // with packed boards: as the rules write them
	terminated, truncated []uint8
}

// place makes the place whose slab lies in memory, which is aligned to 8 bytes.
func (h *handle) place(slab []byte) (*place, error) {
	batch, err := h.layout.view(slab)
	if err != nil {
		return nil, err
	}
	p := &place{slab: slab, batch: batch, terminated: batch.Terminated, truncated: batch.Truncated}
	batch.Terminated, batch.Truncated = h.private.terminated, h.private.truncated
	if f := h.layout.bits; f != nil {
		p.bits, batch.Planes = slab[f.Offset:f.Offset+f.Len], h.private.planes
	}
	batch.FinalPlanes, batch.FinalGlobals, batch.FinalSeat, batch.FinalLegal = h.final.FinalPlanes, h.final.FinalGlobals, h.final.FinalSeat, h.final.FinalLegal
	return p, nil
}

// finish completes p after games were written to it, and makes it what the handle shows.
func (h *handle) finish(p *place) error {
	copy(p.terminated, h.private.terminated)
	copy(p.truncated, h.private.truncated)
	h.now = p
	if p.bits == nil {
		return nil
	}
	return h.pack(p.bits, h.private.planes)
}

// to finds where an answer goes that option slot sends elsewhere than over the connection.
func (h *handle) to(method string, slot *int64) (*place, error) {
	if slot == nil {
		return h.own, nil
	}
	if *slot < 0 || *slot >= int64(len(h.slots)) {
		return nil, wire.Errorf(wire.BadParams, "%s: slot %d of %d", method, *slot, len(h.slots))
	}
	return h.slots[*slot], nil
}

// show answers with the place that was written: its slab, or true if the client sees it.
func (s *session) show(id uint32, h *handle, p *place) {
	if p == h.own {
		wire.PutHead(h.message, id, len(p.slab))
		s.writeOne(h.message)
		return
	}
	s.writeOne(wire.PutDone(s.brief[:0], id))
}
