package server

import (
	"slices"
	"time"
	"unsafe"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// step is the hot path. It allocates nothing, except for the notification that pushFinal asks for.
func (s *session) step(f *wire.Frame, h *handle) error {
	raw, err := f.Bin(1, "actions")
	if err != nil {
		return err
	}
	if len(raw) != 2*h.rows {
		return wire.Errorf(wire.BadParams, "step: %d bytes of actions, want %d: 2 for each of the %d rows",
			len(raw), 2*h.rows, h.rows)
	}
	copy(bytesOf(h.actions), raw)
	return s.play(f, h, h.own)
}

// stepSlot is step with the actions and the slab in a slot.
func (s *session) stepSlot(f *wire.Frame, h *handle) error {
	if len(h.slots) == 0 {
		return wire.Errorf(wire.BadParams, "step_slot: the handle has no slots: call share first")
	}
	slot, err := f.Int(1, "slot", 0, int64(len(h.slots)-1))
	if err != nil {
		return err
	}
	p := h.slots[slot]
	if err := p.whole("step_slot"); err != nil {
		return err
	}
	copy(bytesOf(h.actions), p.actions) // a copy, because the client may still change them
	return s.play(f, h, p)
}

// play steps with h.actions into p and responds.
func (s *session) play(f *wire.Frame, h *handle, p *place) error {
	begun := time.Now()
	if err := h.step(p); err != nil {
		return refused("step", err)
	}
	h.took = time.Since(begun)
	s.srv.took.observe(h.took)
	s.count(h)
	s.srv.steps.Add(1)
	s.srv.rows.Add(uint64(h.rows))
	if h.pushes && len(h.ended) > 0 {
		return s.showEnds(f.ID, h, p)
	}
	s.show(f.ID, h, p)
	return nil
}

// step plays h.actions and writes the result to p.
func (h *handle) step(p *place) error {
	if err := h.env.Step(h.actions, p.batch); err != nil {
		return err
	}
	if err := h.finish(p); err != nil {
		return err
	}
	if h.recorder != nil {
		h.recorder.Settle()
	}
	h.ended = h.ended[:0]
	truncated := h.private.truncated
	for i, over := range h.private.terminated {
		if over|truncated[i] != 0 {
			h.ended = append(h.ended, i)
		}
	}
	return nil
}

func (s *session) reset(f *wire.Frame, h *handle) error {
	var o struct {
		Seed  *wire.Natural `msgpack:"seed"`
		Seeds []byte        `msgpack:"seeds"`
		Mask  []byte        `msgpack:"mask"`
		Slot  *int64        `msgpack:"slot"`
	}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	p, err := h.to("reset", o.Slot)
	if err != nil {
		return err
	}
	var seeds vec.Seeds
	switch {
	case o.Seed != nil && o.Seeds != nil:
		return wire.Errorf(wire.BadParams, "reset: seed and seeds are both given, want one of them")
	case o.Seed != nil:
		seeds = vec.From(uint64(*o.Seed) + h.first)
	case o.Seeds != nil:
		if seeds, err = seedList("reset", o.Seeds, h.c.Envs); err != nil {
			return err
		}
	case !h.began:
		seeds = h.seeds
	}
	mask, err := h.mask(o.Mask)
	if err == nil && mask != nil {
		err = h.awake("reset with a mask")
	}
	if err != nil {
		return err
	}
	if h.stream != nil {
		if sent, _ := h.stream.InFlight(); sent > 0 && mask != nil {
			return wire.Errorf(wire.BadParams, "reset with a mask: %d games were sent and have not been received: "+
				"call recv first", sent)
		}
		h.stream.Drop()
	}
	if err := h.reset(seeds, mask, p); err != nil {
		return err
	}
	s.count(h)
	s.show(f.ID, h, p)
	return nil
}

// mask reads the games to reset; nil for all.
func (h *handle) mask(b []byte) ([]bool, error) {
	if b == nil {
		return nil, nil
	}
	if len(b) != h.c.Envs {
		return nil, wire.Errorf(wire.BadParams, "reset: mask has %d bytes, want one for each of the %d games",
			len(b), h.c.Envs)
	}
	mask := make([]bool, len(b))
	for i := range b {
		mask[i] = b[i] != 0
	}
	if !slices.Contains(mask, true) {
		return nil, wire.Errorf(wire.BadParams, "reset: mask selects no game, want at least one byte that is not 0")
	}
	return mask, nil
}

func (h *handle) reset(seeds vec.Seeds, mask []bool, p *place) error {
	if err := h.env.Reset(seeds, mask, p.batch); err != nil {
		return err
	}
	if err := h.finish(p); err != nil {
		return err
	}
	h.ended = h.ended[:0]
	h.began = h.began || mask == nil
	return nil
}

// bytesOf returns the memory of v as bytes, little endian like this machine.
func bytesOf[T float32 | int32 | uint32 | uint16 | env.Action](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// observe returns the current observation of every seat of some games, whether or not the seat has to
// act, is driven by the client, or its game is over.
func (s *session) observe(f *wire.Frame, h *handle) error {
	planes, globals, seats := h.game.Planes.Len(), h.game.Globals(), h.c.Seats
	list, err := s.fitting(f, h, seats*(planes+4*globals))
	if err != nil {
		return err
	}
	p, g := make([]uint8, len(list)*seats*planes), make([]float32, len(list)*seats*globals)
	for k, i := range list {
		state := h.env.State(i)
		for seat := range seats {
			at := k*seats + seat
			state.Observe(seat, p[at*planes:(at+1)*planes], g[at*globals:(at+1)*globals])
		}
	}
	return s.reply(f.ID, wire.Fields{"count", len(list), "planes", p, "globals", bytesOf(g)})
}
