package server

import "blockyard/rpc/wire"

// observe returns the current observation of every seat of some games, whether or not the seat has to
// act, is driven by the client, or its game is over.
func (s *session) observe(f *wire.Frame, h *handle) error {
	planes, globals, seats := h.game.Planes.Len(), h.game.Globals(), h.c.Seats
	list, release, err := s.fitting(f, h, seats*(planes+4*globals))
	if err != nil {
		return err
	}
	defer release()
	p, g := make([]uint8, len(list)*seats*planes), make([]float32, len(list)*seats*globals)
	for k, i := range list {
		state := h.env.State(i)
		for seat := range seats {
			at := k*seats + seat
			state.Observe(seat, p[at*planes:(at+1)*planes], g[at*globals:(at+1)*globals])
		}
	}
	return s.reply(f.ID, wire.Fields{
		"count", len(list), "planes", p, "globals", bytesOf(g),
	})
}
