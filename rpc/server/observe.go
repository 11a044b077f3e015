package server

import "blockyard/rpc/wire"

// observe returns the current observation of every seat of some games, whether or not the seat has to
// act, is driven by the client, or its game is over.
func (s *session) observe(f *wire.Frame) error {
	h, err := s.handle(f)
	if err != nil {
		return err
	}
	list, err := h.selected(f, 1, "games", true)
	if err != nil {
		return err
	}
	if err := h.awake("observe"); err != nil {
		return err
	}
	planes, globals, seats := h.game.Planes.Len(), h.game.Globals(), h.c.Seats
	size := seats * (planes + 4*globals)
	room := (s.srv.limits.MaxReply - replyRoom) / size
	if room < 1 && len(list) > 0 {
		return wire.Exceeds("max_reply", int64(s.srv.limits.MaxReply), int64(size+replyRoom), "--max-reply")
	}
	list = list[:min(room, len(list))]
	release, err := s.srv.borrow(len(list) * size)
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
		{Name: "count", Value: len(list)}, {Name: "planes", Value: p}, {Name: "globals", Value: bytesOf(g)},
	})
}
