package server

import (
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// mostRollout is the most steps of one rollout.
const mostRollout = 1_000_000

// rollout plays random legal actions without asking the client.
func (s *session) rollout(f *wire.Frame) error {
	h, err := s.handle(f)
	if err != nil {
		return err
	}
	steps, err := f.Int(1, "steps", 1, mostRollout)
	if err != nil {
		return err
	}
	o := struct {
		Keep string `msgpack:"keep"`
	}{Keep: "all"}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	if o.Keep != "all" && o.Keep != "last" {
		return wire.Errorf(wire.BadParams, `rollout: keep is %.32q, want "all" or "last"`, o.Keep)
	}
	if err := h.awake("rollout"); err != nil {
		return err
	}
	kept := int64(1)
	if o.Keep == "all" {
		kept = steps
	}
	size := kept*int64(len(h.slab)+2*h.rows) + replyRoom
	if size > int64(s.srv.limits.MaxReply) {
		return wire.Exceeds("max_reply", int64(s.srv.limits.MaxReply), size, "--max-reply")
	}
	release, err := s.srv.borrow(int(size))
	if err != nil {
		return err
	}
	defer release()
	slabs := make([]byte, 0, kept*int64(len(h.slab)))
	actions := make([]byte, 0, kept*int64(2*h.rows))
	for range steps {
		if err := s.ctx.Err(); err != nil {
			return wire.Errorf(wire.Draining, "the session ended during the rollout")
		}
		if err := h.stepAtRandom(); err != nil {
			return refusal("rollout", err)
		}
		if o.Keep == "last" {
			slabs, actions = slabs[:0], actions[:0]
		}
		slabs = append(slabs, h.slab...)
		actions = append(actions, bytesOf(h.actions)...)
	}
	s.srv.steps.Add(uint64(steps))
	s.srv.rows.Add(uint64(steps) * uint64(h.rows))
	return s.reply(f.ID, wire.Fields{{Name: "steps", Value: steps}, {Name: "slabs", Value: slabs}, {Name: "actions", Value: actions}})
}

// stepAtRandom plays a random legal action in every row, in new games where the old
// ones ended.
func (h *handle) stepAtRandom() error {
	if h.c.Autoreset == vec.Disabled {
		var mask []bool
		for i, over := range h.over {
			if over != 0 {
				if mask == nil {
					mask = make([]bool, len(h.over))
				}
				mask[i] = true
			}
		}
		if mask != nil {
			if err := h.reset(vec.Seeds{}, mask); err != nil {
				return err
			}
		}
	}
	if err := h.env.Sample(h.actions); err != nil {
		return err
	}
	return h.step()
}
