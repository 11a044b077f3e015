package server

import (
	"blockyard/env/vec"
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
	o := rolloutOptions{Keep: "all", Policy: random}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	if err := o.check(h, steps); err != nil {
		return err
	}
	if err := h.awake("rollout"); err != nil {
		return err
	}
	p, err := s.policyFor(h, o.Policy)
	if err != nil {
		return err
	}
	if o.Slot != nil {
		return s.rolloutSlots(f, h, p, h.slots[*o.Slot:*o.Slot+steps])
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
	case o.Slot != nil && (*o.Slot < 0 || *o.Slot > int64(len(h.slots))-steps):
		return wire.Errorf(wire.BadParams, "rollout: slots %d to %d, but the handle has %d: call share first",
			*o.Slot, *o.Slot+steps-1, len(h.slots))
	case o.Slot != nil:
		for _, p := range h.slots[*o.Slot : *o.Slot+steps] {
			if err := p.whole("rollout"); err != nil {
				return err
			}
		}
	}
	return nil
}

// rolloutSlots writes each step and its actions to one slot.
func (s *session) rolloutSlots(f *wire.Frame, h *handle, p *policy, slots []*place) error {
	for _, at := range slots {
		if err := s.playAlone(h, p, at); err != nil {
			return err
		}
		copy(at.actions, bytesOf(h.actions))
	}
	return s.reply(f.ID, wire.Fields{"steps", len(slots)})
}

// rolloutAway responds with the slabs and actions of all steps, or of the last step.
func (s *session) rolloutAway(f *wire.Frame, h *handle, p *policy, steps int, all bool) error {
	slab, kept := len(h.own.slab), 1
	if all {
		kept = steps
	}
	size := kept*(slab+2*h.rows) + replyRoom
	if size > s.srv.limits.MaxReply {
		return s.srv.ledger.ExceedsReply(size)
	}
	if err := s.reserve(size); err != nil {
		return err
	}
	slabs := make([]byte, 0, kept*slab)
	actions := make([]byte, 0, kept*2*h.rows)
	for range steps {
		if err := s.playAlone(h, p, h.own); err != nil {
			return err
		}
		if !all {
			slabs, actions = slabs[:0], actions[:0]
		}
		slabs = append(slabs, h.own.slab...)
		actions = append(actions, bytesOf(h.actions)...)
	}
	return s.reply(f.ID, wire.Fields{"steps", steps, "slabs", slabs, "actions", actions})
}

// playAlone plays one step of a rollout into at and restarts the games that ended. A nil p plays random
// legal actions.
func (s *session) playAlone(h *handle, p *policy, at *place) error {
	if s.ctx.Err() != nil {
		return wire.Errorf(wire.Draining, "the session ended during the rollout")
	}
	err := h.renew(at)
	if err == nil && p == nil {
		err = h.env.Sample(h.actions)
	} else if err == nil {
		err = p.choose()
	}
	if err == nil {
		err = h.step(at)
	}
	if err != nil {
		return err
	}
	s.srv.steps.Add(1)
	s.srv.rows.Add(uint64(h.rows))
	s.count(h)
	return nil
}

// renew resets ended games if autoreset is Disabled.
func (h *handle) renew(at *place) error {
	if h.c.Autoreset != vec.Disabled {
		return nil
	}
	var mask []bool
	for i := range h.c.Envs {
		if h.env.Ended(i) {
			if mask == nil {
				mask = make([]bool, h.c.Envs)
			}
			mask[i] = true
		}
	}
	if mask == nil {
		return nil
	}
	return h.reset(vec.Seeds{}, mask, at)
}
