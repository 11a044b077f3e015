package server

import (
	"errors"
	"net"
	"slices"

	"blockyard/rpc/server/batch"
	"blockyard/rpc/server/memory"
	"blockyard/rpc/wire"
)

// shares reports whether the connection can share memory.
func (s *session) shares() bool {
	_, ok := s.conn.(*net.UnixConn)
	return ok && memory.CanShare
}

// canShare returns an error if the connection cannot share memory.
func (s *session) canShare(method string) error {
	if s.shares() {
		return nil
	}
	return wire.Errorf(wire.BadParams, "%s: this connection cannot share memory: connect over a unix socket on Linux",
		method)
}

// share allocates slots in shared memory and sends its file descriptor with the response.
func (s *session) share(f *wire.Frame, h *handle) error {
	slots, err := f.Int(1, "slots", 1, batch.MostSlots)
	if err != nil {
		return err
	}
	games := int64(h.Config.Envs)
	if !f.Absent(2) {
		if games, err = f.Int(2, "games", 1, games); err != nil {
			return err
		}
	}
	if err := s.canShare("share"); err != nil {
		return err
	}
	shared, err := h.Share(int(slots), int(games))
	if err != nil {
		return err
	}
	return s.pass(f.ID, shared, wire.Fields{"first", shared.First, "slots", slots, "stride", shared.Stride,
		"actions", shared.Actions, "len", shared.Len})
}

// shareFinal moves the last observations of ended games to memory shared with the client.
func (s *session) shareFinal(f *wire.Frame, h *handle) error {
	if err := s.canShare("share_final"); err != nil {
		return err
	}
	shared, err := h.ShareFinal()
	if err != nil {
		return err
	}
	return s.pass(f.ID, shared, wire.Fields{"layout", announce(shared.Layout), "len", shared.Len})
}

// pass responds to a request and sends a file descriptor with the first byte of the response. It closes the file.
func (s *session) pass(id uint32, shared *batch.Shared, result any) error {
	parts, err := wire.Result(id, result)
	if err != nil {
		return errors.Join(err, shared.Close())
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	s.extend()
	n, err := memory.Send(s.conn, slices.Concat(parts...), shared.File)
	s.srv.sent.Add(uint64(n))
	if err != nil {
		s.end()
	}
	if err := shared.Close(); err != nil {
		s.srv.log.Warn("close shared memory", "session", s.id, "err", err)
	}
	return nil
}
