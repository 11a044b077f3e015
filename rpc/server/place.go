package server

import (
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// A place is the memory to which a step of a handle is written: the handle's own slab, which is sent
// over the connection, or a slot in memory shared with the client.
type place struct {
	slab    []byte
	batch   *vec.Batch
	actions []byte // of a slot: one little-endian uint16 per row

	// The server reads these arrays again after a step, when a client could already have changed
	// them. It therefore writes them to private memory, and finish copies them here.
	bits, terminated, truncated []byte
}

// private is memory that is never shared with a client.
type private struct {
	planes                []uint8 // if the boards are packed: before packing
	terminated, truncated []uint8
}

// place returns the place with the given slab, which must be aligned to 8 bytes.
func (h *handle) place(slab []byte) (*place, error) {
	batch, err := h.layout.View(slab)
	if err != nil {
		return nil, err
	}
	p := &place{slab: slab, batch: batch, terminated: batch.Terminated, truncated: batch.Truncated}
	batch.Terminated, batch.Truncated = h.private.terminated, h.private.truncated
	if f := h.layout.bits; f.Name != "" {
		p.bits, batch.Planes = slab[f.Offset:f.Offset+f.Len], h.private.planes
	}
	batch.FinalPlanes, batch.FinalGlobals = h.final.FinalPlanes, h.final.FinalGlobals
	batch.FinalSeat, batch.FinalLegal = h.final.FinalSeat, h.final.FinalLegal
	return p, nil
}

// finish completes p after the games were written to it, and makes it the handle's current place.
func (h *handle) finish(p *place) error {
	copy(p.terminated, h.private.terminated)
	copy(p.truncated, h.private.truncated)
	h.now = p
	if p.bits == nil {
		return nil
	}
	return h.pack(p.bits, h.private.planes)
}

// to returns the place that the option slot selects: the handle's own slab without it.
func (h *handle) to(method string, slot *int64) (*place, error) {
	if slot == nil {
		return h.own, nil
	}
	if *slot < 0 || *slot >= int64(len(h.slots)) {
		return nil, wire.Errorf(wire.BadParams, "%s: slot %d, but the handle has %d: call share first",
			method, *slot, len(h.slots))
	}
	return h.slots[*slot], nil
}

// show responds with the slab of p, or with true if p is shared with the client.
func (s *session) show(id uint32, h *handle, p *place) {
	if p == h.own {
		wire.PutHead(h.message, id, len(p.slab))
		s.writeOne(h.message)
		return
	}
	s.writeOne(wire.AppendDone(s.brief[:0], id))
}
