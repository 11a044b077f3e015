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
	errNoShares = "this connection cannot share memory: connect over a unix socket on Linux"
)

// shares reports whether the connection can share memory.
func (s *session) shares() bool {
	_, ok := s.conn.(*net.UnixConn)
	return ok && canShare
}

// share allocates slots in shared memory and sends its file descriptor with the response. The size is
// sealed before the client gets it.
func (s *session) share(f *wire.Frame) error {
	h, err := s.handle(f)
	if err != nil {
		return err
	}
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
	actionsAt := (len(h.own.slab) + fieldAlign - 1) &^ (fieldAlign - 1)
	stride := (actionsAt + 2*h.rows + pageSize - 1) &^ (pageSize - 1)
	size := int64(stride) * slots
	if err := s.srv.enlarge(size); err != nil {
		return err
	}
	memory, file, err := newShared(size)
	if err != nil {
		s.srv.enlarge(-size)
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
		{Name: "first", Value: first}, {Name: "slots", Value: slots}, {Name: "stride", Value: stride},
		{Name: "actions", Value: actionsAt}, {Name: "len", Value: size},
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

// enlarge counts memory of open environments towards the limit; a negative number gives it back.
func (s *Server) enlarge(memory int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.memory + memory; memory > 0 && have > s.limits.MaxMemory {
		return wire.Exceeds("max_memory", s.limits.MaxMemory, have, "--max-memory")
	}
	s.memory += memory
	return nil
}
