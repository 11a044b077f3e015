package vec

import (
	"errors"
	"fmt"
	"slices"

	"blockyard/env"
)

// Clone makes environment dst a copy of src, including seed and random generator, but with
// agents of its own. Unless one of them is reseeded, both behave alike from then on.
func (e *Env) Clone(dst, src int) error {
	if err := errors.Join(e.usable(src), e.usable(dst)); err != nil {
		return err
	}
	if dst == src {
		return nil
	}
	return e.become(dst, e.states[src], e.slots[src], e.choices(src))
}

// choices are the choices of agents that play in environment i, by seat.
func (e *Env) choices(i int) []*Choice { return e.playing[i*e.c.Seats : (i+1)*e.c.Seats] }

// become makes environment i a copy of one with this position, slot and these agents.
func (e *Env) become(i int, s env.State, sl slot, playing []*Choice) error {
	e.traceDrop(i)
	e.states[i].CopyFrom(s)
	e.slots[i] = sl
	e.slots[i].traced = false
	for set := e.agentSeats(); set != 0; set = set.Rest() {
		seat := set.First()
		if err := e.seat(i, seat, playing[seat]); err != nil {
			return err
		}
	}
	return e.resume(i, e.renewAgents)
}

// CloneAll is Clone of each environment src[k] into dst[k], all at once: a source that is overwritten too is copied as
// it was before. It keeps one position aside, however many are exchanged. No environment may be in dst twice.
func (e *Env) CloneAll(dst, src []int) error {
	if len(dst) != len(src) {
		return fmt.Errorf("vec %s: %d environments to copy to %d", e.g.Name, len(src), len(dst))
	}
	const none = -1
	from := slices.Repeat([]int32{none}, len(e.states))
	readers := make([]int32, len(e.states)) // how many copies of an environment are still to be made
	for k, d := range dst {
		if err := errors.Join(e.usable(src[k]), e.usable(d)); err != nil {
			return err
		}
		if from[d] != none {
			return fmt.Errorf("vec %s: two environments to copy to %d", e.g.Name, d)
		}
		from[d] = int32(src[k])
	}
	for d, s := range from {
		if int(s) == d {
			from[d] = none
		} else if s != none {
			readers[s]++
		}
	}
	take := func(d int32) (s int32, err error) {
		s, from[d] = from[d], none
		readers[s]--
		return s, e.Clone(int(d), int(s))
	}
	for i := range from { // chains, each from the end that nobody reads
		for d := int32(i); from[d] != none && readers[d] == 0; {
			var err error
			if d, err = take(d); err != nil {
				return err
			}
		}
	}
	for i := range from { // what remains are cycles
		if from[i] == none {
			continue
		}
		first, sl, playing := e.g.New(e.c.Seats), e.slots[i], slices.Clone(e.choices(i))
		first.CopyFrom(e.states[i])
		d := int32(i)
		for int(from[d]) != i {
			var err error
			if d, err = take(d); err != nil {
				return err
			}
		}
		from[d] = none
		if err := e.become(int(d), first, sl, playing); err != nil {
			return err
		}
	}
	return nil
}
