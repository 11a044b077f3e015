package server

import (
	"blockyard/rpc/server/batch"
	"blockyard/rpc/server/limits"
	"blockyard/rpc/server/memory"
	"blockyard/rpc/wire"
)

// mostRollout is the largest number of steps of one rollout.
const mostRollout = 1_000_000

// rolloutOptions are the named arguments of rollout.
type rolloutOptions struct {
	Keep   string `msgpack:"keep"`
	Policy string `msgpack:"policy"`
	Slot   *int64 `msgpack:"slot"`
}

// rollout plays several steps with a policy of the server.
func (s *session) rollout(f *wire.Frame, h *handle) error {
	steps, err := f.Int(1, "steps", 1, mostRollout)
	if err != nil {
		return err
	}
	o := rolloutOptions{Keep: "all", Policy: batch.Random}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	if err := o.check(h, steps); err != nil {
		return err
	}
	if err := h.Awake("rollout"); err != nil {
		return err
	}
	p, err := h.SetPolicy(o.Policy)
	if err != nil {
		return err
	}
	if o.Slot != nil {
		return s.rolloutSlots(f, h, p, h.Slots[*o.Slot:*o.Slot+steps])
	}
	return s.rolloutAway(f, h, p, int(steps), o.Keep == "all")
}

func (o *rolloutOptions) check(h *handle, steps int64) error {
	switch {
	case o.Keep != "all" && o.Keep != "last":
		return wire.Errorf(wire.BadParams, `rollout: keep is %.32q, want "all" or "last"`, o.Keep)
	case o.Slot != nil && o.Keep != "all":
		return wire.Errorf(wire.BadParams,
			`rollout: keep is "last" and slot is given: slots hold every step, so leave out one of the two`)
	case o.Slot != nil && (*o.Slot < 0 || *o.Slot > int64(len(h.Slots))-steps):
		return wire.Errorf(wire.BadParams, "rollout: slots %d to %d, but the handle has %d: call share first",
			*o.Slot, *o.Slot+steps-1, len(h.Slots))
	case o.Slot != nil:
		for _, p := range h.Slots[*o.Slot : *o.Slot+steps] {
			if err := p.Whole("rollout"); err != nil {
				return err
			}
		}
	}
	return nil
}

// rolloutSlots writes each step and its actions to one slot.
func (s *session) rolloutSlots(f *wire.Frame, h *handle, p *batch.Policy, slots []*batch.Place) error {
	for _, at := range slots {
		if err := h.Play(p, at); err != nil {
			return err
		}
		s.stepped(h, h.Rows)
		copy(at.Actions, memory.Bytes(h.Actions))
	}
	return s.reply(f.ID, wire.Fields{"steps", len(slots)})
}

// rolloutAway responds with the slabs and actions of all steps, or of the last step.
func (s *session) rolloutAway(f *wire.Frame, h *handle, p *batch.Policy, steps int, all bool) error {
	slab, kept := len(h.Own.Slab), 1
	if all {
		kept = steps
	}
	size := kept*(slab+2*h.Rows) + limits.ReplyRoom
	if size > s.srv.limits.MaxReply {
		return s.srv.ledger.ExceedsReply(size)
	}
	if err := s.reserve(size); err != nil {
		return err
	}
	slabs := make([]byte, 0, kept*slab)
	actions := make([]byte, 0, kept*2*h.Rows)
	for range steps {
		if err := h.Play(p, h.Own); err != nil {
			return err
		}
		s.stepped(h, h.Rows)
		if !all {
			slabs, actions = slabs[:0], actions[:0]
		}
		slabs = append(slabs, h.Own.Slab...)
		actions = append(actions, memory.Bytes(h.Actions)...)
	}
	return s.reply(f.ID, wire.Fields{"steps", steps, "slabs", slabs, "actions", actions})
}
