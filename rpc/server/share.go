package server

import (
	"errors"
	"net"

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
	return ok && canShare
}

// share allocates slots in shared memory and sends its file descriptor with the response. The size is
// sealed before the client gets it.
func (s *session) share(f *wire.Frame, h *handle) error {
	slots, err := f.Int(1, "slots", 1, mostSlots)
	if err != nil {
		return err
	}
	switch {
	case !s.shares():
		return wire.Errorf(wire.BadParams, "share: %s", errNoShares)
	case len(h.slots)+int(slots) > mostSlots:
		return wire.Exceeds("slots of a handle", mostSlots, int64(len(h.slots))+slots, "")
	case len(h.shared) >= mostShares:
		return wire.Exceeds("shares of a handle", mostShares, mostShares+1, "")
	}
	up := func(n, unit int) int { return (n + unit - 1) / unit * unit }
	actionsAt := up(len(h.own.slab), cacheLine)
	stride := up(actionsAt+2*h.rows, pageSize)
	size := int64(stride) * slots
	if err := s.srv.account(0, 0, size); err != nil {
		return err
	}
	memory, file, err := newShared(size)
	if err != nil {
		s.srv.account(0, 0, -size)
		return wire.Errorf(wire.Limit, "share: allocating %d bytes: %v", size, err)
	}
	h.memory += size
	h.shared = append(h.shared, memory)
	defer file.Close() // the mapping stays
	first := len(h.slots)
	for at := 0; at < len(memory); at += stride {
		p, err := h.place(memory[at : at+len(h.own.slab)])
		if err != nil {
			return err
		}
		p.actions = memory[at+actionsAt : at+actionsAt+2*h.rows]
		h.slots = append(h.slots, p)
	}
	return s.pass(f.ID, file, wire.Fields{
		"first", first, "slots", slots, "stride", stride,
		"actions", actionsAt, "len", size,
	})
}

// unshare frees the memory of all slots, which must not be used any more.
func (h *handle) unshare() error {
	var errs []error
	for _, memory := range h.shared {
		errs = append(errs, freeShared(memory))
	}
	h.shared, h.slots, h.now = nil, nil, h.own
	return errors.Join(errs...)
}
