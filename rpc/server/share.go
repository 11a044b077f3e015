package server

import (
	"errors"
	"net"
	"os"
	"slices"

	"blockyard/env/vec"
	"blockyard/rpc/server/limits"
	"blockyard/rpc/server/memory"
	"blockyard/rpc/wire"
)

// Bounds on the memory that a handle shares with its client.
const (
	mostSlots   = 1 << 14 // of a handle
	mostShares  = 64      // mappings of a handle
	pageSize    = 4096
	cacheLine   = 64
	errNoShares = "this connection cannot share memory: connect over a unix socket on Linux"
)

// shares reports whether the connection can share memory.
func (s *session) shares() bool {
	_, ok := s.conn.(*net.UnixConn)
	return ok && memory.CanShare
}

// share allocates slots in shared memory and sends its file descriptor with the response. The size is
// sealed before the client gets it.
func (s *session) share(f *wire.Frame, h *handle) error {
	slots, err := f.Int(1, "slots", 1, mostSlots)
	if err != nil {
		return err
	}
	games := int64(h.c.Envs)
	if !f.Absent(2) {
		if games, err = f.Int(2, "games", 1, games); err != nil {
			return err
		}
	}
	switch {
	case len(h.slots)+int(slots) > mostSlots:
		return wire.Exceeds("slots of a handle", mostSlots, int64(len(h.slots))+slots, "")
	}
	slab, rows, partial := len(h.own.slab), h.rows, games < int64(h.c.Envs)
	if partial {
		st, err := s.streamed(h)
		if err != nil {
			return err
		}
		slab, rows = st.slabLen(int(games)), int(games)*h.env.Rows()
	}
	actionsAt := up(slab, cacheLine)
	stride := up(actionsAt+2*rows, pageSize)
	size := int64(stride) * slots
	shared, file, err := s.newShared(h, size, slots*slotMemory, "share")
	if err != nil {
		return err
	}
	defer s.closeShared(file) // the mapping stays
	first := len(h.slots)
	for at := 0; at < len(shared); at += stride {
		p := &place{slab: shared[at : at+slab], games: int(games)}
		if !partial {
			if p, err = h.place(p.slab); err != nil {
				return err
			}
			p.actions = shared[at+actionsAt : at+actionsAt+2*rows]
		}
		h.slots = append(h.slots, p)
	}
	return s.pass(f.ID, file, wire.Fields{
		"first", first, "slots", slots, "stride", stride,
		"actions", actionsAt, "len", size,
	})
}

func up(n, unit int) int { return (n + unit - 1) / unit * unit }

// newShared allocates memory of h that a client can map, and accounts for more besides it; method is for errors. The
// caller calls closeShared.
func (s *session) newShared(h *handle, size, more int64, method string) ([]byte, *os.File, error) {
	switch {
	case !s.shares():
		return nil, nil, wire.Errorf(wire.BadParams, "%s: %s", method, errNoShares)
	case len(h.shared) >= mostShares:
		return nil, nil, wire.Exceeds("shares of a handle", mostShares, mostShares+1, "")
	}
	need := limits.Use{Mappings: 1, Files: 1}
	if err := s.srv.ledger.Take(need); err != nil {
		return nil, nil, err
	}
	if err := s.account(0, 0, size+more); err != nil {
		s.srv.ledger.Give(need)
		return nil, nil, err
	}
	shared, file, err := memory.New(size)
	if err != nil {
		s.account(0, 0, -size-more)
		s.srv.ledger.Give(need)
		return nil, nil, wire.Errorf(wire.Limit, "%s: allocating %d bytes: %v", method, size, err)
	}
	h.memory += size + more
	h.use.Mappings++
	h.shared = append(h.shared, shared)
	return shared, file, nil
}

// closeShared closes the file of newShared.
func (s *session) closeShared(file *os.File) {
	if err := file.Close(); err != nil {
		s.srv.log.Warn("close shared memory", "session", s.id, "err", err)
	}
	s.srv.ledger.Give(limits.Use{Files: 1})
}

// shareFinal moves the last observations of ended games to memory shared with the client, which then
// need not call final after each step. The server only writes there, and what final reads it only echoes.
func (s *session) shareFinal(f *wire.Frame, h *handle) error {
	switch {
	case h.c.Autoreset != vec.SameStep:
		return wire.Errorf(wire.BadParams, "share_final: the autoreset mode is %v, want SameStep", h.c.Autoreset)
	case h.stream != nil:
		return wire.Errorf(wire.BadParams, "share_final: games have been sent already: call it before send")
	}
	l, err := h.env.Layout(h.finalNames()...)
	if err != nil {
		return err
	}
	size := int64(up(l.Len, pageSize))
	shared, file, err := s.newShared(h, size, 0, "share_final")
	if err != nil {
		return err
	}
	defer s.closeShared(file) // the mapping stays
	if h.final, err = l.View(shared); err != nil {
		return err
	}
	h.own.setFinal(h.final)
	for _, p := range h.slots {
		if p.batch != nil {
			p.setFinal(h.final)
		}
	}
	return s.pass(f.ID, file, wire.Fields{"layout", (&layout{Layout: l}).announce(), "len", size})
}

// setFinal lets a step write the last observations of ended games to the slabs of final.
func (p *place) setFinal(final *vec.Batch) {
	b := p.batch
	b.FinalPlanes, b.FinalGlobals, b.FinalSeat = final.FinalPlanes, final.FinalGlobals, final.FinalSeat
	b.FinalLegal, b.FinalOpponent = final.FinalLegal, final.FinalOpponent
}

// unshare frees the memory of all slots, which must not be used any more.
func (h *handle) unshare() error {
	var errs []error
	for _, shared := range h.shared {
		errs = append(errs, memory.Free(shared))
	}
	h.shared, h.slots, h.now = nil, nil, h.own
	return errors.Join(errs...)
}

// A place is the memory to which a step of a handle is written: the handle's own slab, which is sent
// over the connection, or a slot in memory shared with the client.
type place struct {
	slab    []byte
	games   int        // of the slab
	batch   *vec.Batch // nil if these are not all games: such a place is for recv
	actions []byte     // of a slot: one little-endian uint16 per row

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
	p := &place{slab: slab, games: h.c.Envs, batch: batch, terminated: batch.Terminated, truncated: batch.Truncated}
	batch.Terminated, batch.Truncated = h.private.terminated, h.private.truncated
	if f := h.layout.bits; f.Name != "" {
		p.bits, batch.Planes = slab[f.Offset:f.Offset+f.Len], h.private.planes
	}
	p.setFinal(h.final)
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
	return h.slots[*slot], h.slots[*slot].whole(method)
}

// whole returns an error if p is not a place for all games.
func (p *place) whole(method string) error {
	if p.batch != nil {
		return nil
	}
	return wire.Errorf(wire.BadParams, "%s: the slot holds %d games, want one for all of them: share without games",
		method, p.games)
}

// show responds with the slab of p, or with true if p is shared with the client.
func (s *session) show(id uint32, h *handle, p *place) {
	s.writeOne(s.response(id, h, p))
}

// response is what show sends.
func (s *session) response(id uint32, h *handle, p *place) []byte {
	if p == h.own {
		wire.PutHead(h.message, id, len(p.slab))
		return h.message
	}
	return wire.AppendDone(s.brief[:0], id)
}

// pack writes planes with as few bits a cell as hold it: cell j of a row in bits j*b …
// j*b+b-1, the lowest bit of the first byte being bit 0. On all cores.
func (h *handle) pack(dst, planes []byte) error {
	if h.packRow == nil {
		width, each, per, bits := h.game.Planes.Len(), h.game.PackedLen(), h.env.Rows(), h.game.CellBits()
		h.packRow = func(_, i int) {
			for row := i * per; row < (i+1)*per; row++ {
				memory.Pack(h.packTo[row*each:(row+1)*each], h.packFrom[row*width:(row+1)*width], bits)
			}
		}
	}
	h.packTo, h.packFrom = dst, planes
	return h.env.Each(h.packRow)
}

// pass responds to a request and sends a file descriptor with the first byte of the response.
func (s *session) pass(id uint32, file *os.File, result any) error {
	parts, err := wire.Result(id, result)
	if err != nil {
		return err
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	s.extend()
	n, err := memory.Send(s.conn, slices.Concat(parts...), file)
	s.srv.sent.Add(uint64(n))
	if err != nil {
		s.end()
	}
	return nil
}
