package server

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/checkpoint"
	"blockyard/rpc/session/memory"
	"blockyard/rpc/wire"
)

// readMixtures reads what a client says about the seats that it does not drive.
func readMixtures(method string, seats map[int64]any) (map[int][]batch.Choice, error) {
	out := map[int][]batch.Choice{}
	for _, seat := range slices.Sorted(maps.Keys(seats)) {
		mixture, err := readMixture(fmt.Sprintf("%s: opponents[%d]", method, seat), seats[seat])
		if err != nil {
			return nil, err
		}
		out[int(seat)] = mixture
	}
	return out, nil
}

// readMixture reads a spec, or an array of [spec, weight] pairs. where names the seat in errors.
func readMixture(where string, v any) (all []batch.Choice, err error) {
	if spec, ok := v.(string); ok {
		v = []any{[]any{spec, 1}}
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		return nil, badParams("%s is %T, want a spec or an array of [spec, weight]", where, v)
	case len(list) == 0:
		return nil, badParams("%s is an empty mixture, want at least one opponent", where)
	case len(list) > checkpoint.MostChoices:
		refused := wire.Exceeds("opponents of a seat", checkpoint.MostChoices, int64(len(list)), "")
		refused.Msg = where + ": " + refused.Msg
		return nil, refused
	}
	for k, v := range list {
		pair, _ := v.([]any)
		if len(pair) != 2 {
			return nil, badParams("%s, entry %d: want [spec, weight]", where, k+1)
		}
		spec, ok := pair[0].(string)
		weight, isNumber := number(pair[1])
		switch {
		case !ok || len(spec) > checkpoint.MostSpec:
			return nil, badParams("%s, entry %d: the spec is not a string of at most %d bytes", where, k+1, checkpoint.MostSpec)
		case !isNumber:
			return nil, badParams("%s, entry %d, %.64q: the weight is not a number", where, k+1, spec)
		}
		all = append(all, batch.Choice{Spec: spec, Weight: weight})
	}
	return all, nil
}

func number(v any) (float64, bool) {
	r, to := reflect.ValueOf(v), reflect.TypeFor[float64]()
	if v == nil || !r.CanConvert(to) {
		return 0, false
	}
	return r.Convert(to).Float(), true
}

// setOpponents replaces the mixtures of some seats that the server plays, or changes nothing.
func (s *session) setOpponents(f *wire.Frame, h *handle) error {
	opponents := map[int64]any{}
	if err := f.Options(1, &opponents); err != nil {
		return err
	}
	var o struct {
		Curriculum *vec.Curriculum `msgpack:"curriculum"`
	}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	if len(opponents) == 0 {
		return badParams("set_opponents: no seat is named, want at least one")
	}
	seats, err := readMixtures("set_opponents", opponents)
	if err != nil {
		return err
	}
	first, err := h.SetOpponents(seats, o.Curriculum)
	if err != nil {
		return err
	}
	return s.Reply(f.ID, wire.Fields{"first", first, "opponents", h.Opponents.Specs(first)})
}

// opponentStats replies with the results of the finished episodes against every opponent, by number.
func (s *session) opponentStats(f *wire.Frame, h *handle) error {
	var o struct {
		Reset bool   `msgpack:"reset"`
		Games []byte `msgpack:"games"`
	}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	list := h.gamesIn(f, "games", o.Games, true)
	if err := f.Err(); err != nil {
		return err
	}
	if err := s.srv.ledger.Fits(4 * 8 * h.Opponents.Known()); err != nil {
		return err
	}
	var wins, draws, losses, truncated []uint64
	tallies := h.Tallies()
	for _, i := range list {
		if o.Reset {
			h.Env.SetTalliesOf(i, nil)
		}
	}
	for _, t := range tallies {
		wins, draws = append(wins, t.Wins), append(draws, t.Draws)
		losses, truncated = append(losses, t.Losses), append(truncated, t.Truncated)
	}
	return s.Reply(f.ID, wire.Fields{"count", len(tallies), "wins", memory.Bytes(wins), "draws", memory.Bytes(draws),
		"losses", memory.Bytes(losses), "truncated", memory.Bytes(truncated)})
}

// uploadMemory is the estimated size of an upload besides its bytes.
const uploadMemory = 1 << 10

// upload keeps weights for the session, after checking that the spec names and can load them.
func (s *session) upload(f *wire.Frame, g *env.Game) error {
	spec, data := f.Str(1, "spec"), f.Bin(2, "weights")
	if err := f.Err(); err != nil {
		return err
	}
	name := bots.ContentName(data)
	if len(spec) > checkpoint.MostSpec || !strings.Contains(spec, "weights="+name) {
		return badParams("upload: the %d bytes are %s, but the spec is %.160q: name them there, "+
			"or read the file again if it has changed", len(data), name, spec)
	}
	_, used, err := s.agents.Create(g, spec, false, batch.Weights{name: data})
	if err != nil {
		return badParams("upload: %v", err)
	}
	if len(used) == 0 {
		return badParams("upload: %.160q does not load the weights", spec)
	}
	if s.agents.Uploads[name] == nil {
		if err := s.tab.Add(int64(len(data)) + uploadMemory); err != nil {
			return err
		}
		s.agents.Uploads[name] = bytes.Clone(data)
	}
	return s.Reply(f.ID, true)
}

// dropUpload frees uploaded weights. Opponents that have been loaded from them play on.
func (s *session) dropUpload(f *wire.Frame) error {
	name := f.Str(0, "name")
	if err := f.Err(); err != nil {
		return err
	}
	data := s.agents.Uploads[name]
	if data == nil {
		return badParams("drop_upload: %.100q: %v", name, batch.ErrNotUploaded)
	}
	_ = s.tab.Add(-int64(len(data)) - uploadMemory)
	delete(s.agents.Uploads, name)
	return s.Reply(f.ID, true)
}

// mostRollout is the largest number of steps of one rollout.
const mostRollout = 1_000_000

// rolloutOptions are the named arguments of rollout.
type rolloutOptions struct {
	Keep   string `msgpack:"keep"`
	Policy string `msgpack:"policy"`
	Slot   *int64 `msgpack:"slot"`
}

func (s *session) rollout(f *wire.Frame, h *handle) error {
	steps := f.Int(1, "steps", 1, mostRollout)
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
	if h.Asks() {
		return badParams("rollout: the server cannot ask the client, who is an opponent: call step")
	}
	p, err := h.SetPolicy(o.Policy)
	if err != nil {
		return err
	}
	if o.Slot == nil {
		return s.rolloutAway(f, h, p, int(steps), o.Keep == "all")
	}
	for _, at := range h.Slots[*o.Slot : *o.Slot+steps] { // each step and its actions to one slot
		if err := h.Play(p, at); err != nil {
			return err
		}
		s.illegal += h.Stepped(h.Rows)
		copy(at.Actions, memory.Bytes(h.Actions))
	}
	return s.Reply(f.ID, wire.Fields{"steps", steps})
}

func (o *rolloutOptions) check(h *handle, steps int64) error {
	switch {
	case o.Keep != "all" && o.Keep != "last":
		return badParams(`rollout: keep is %.32q, want "all" or "last"`, o.Keep)
	case o.Slot != nil && o.Keep != "all":
		return badParams(
			`rollout: keep is "last" and slot is given: slots hold every step, so leave out one of the two`)
	case o.Slot != nil && (*o.Slot < 0 || *o.Slot > int64(len(h.Slots))-steps):
		return badParams("rollout: slots %d to %d, but the handle has %d: call share first",
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

// rolloutAway responds with the slabs and actions of all steps, or of the last step.
func (s *session) rolloutAway(f *wire.Frame, h *handle, p *batch.Policy, steps int, all bool) error {
	slab, kept := len(h.Own.Slab), 1
	if all {
		kept = steps
	}
	if err := s.Reserve(kept * (slab + 2*h.Rows)); err != nil {
		return err
	}
	slabs := make([]byte, 0, kept*slab)
	actions := make([]byte, 0, kept*2*h.Rows)
	for range steps {
		if err := h.Play(p, h.Own); err != nil {
			return err
		}
		s.illegal += h.Stepped(h.Rows)
		if !all {
			slabs, actions = slabs[:0], actions[:0]
		}
		slabs = append(slabs, h.Own.Slab...)
		actions = append(actions, memory.Bytes(h.Actions)...)
	}
	return s.Reply(f.ID, wire.Fields{"steps", steps, "slabs", slabs, "actions", actions})
}
