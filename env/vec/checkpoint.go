package vec

import (
	"errors"
	"fmt"
	"slices"

	"blockyard/env"
)

// A Resumable is an agent that can continue in another Env: what it keeps between calls of Act can be
// written as bytes. An agent whose choices follow from the position that Act gets keeps nothing and writes
// no bytes. An agent without these methods cannot be part of a checkpoint.
type Resumable interface {
	env.Agent
	// AppendMemory appends what the agent keeps to dst. It returns an error if the agent's choices depend
	// on anything else, such as the time.
	AppendMemory(dst []byte) ([]byte, error)
	// RestoreMemory sets what an agent keeps to what AppendMemory of an agent of the same kind wrote. It
	// returns an error for any other bytes, which may come from an untrusted source.
	RestoreMemory(src []byte) error
}

// Memory returns what AppendMemory of an agent appends, or an error if the agent is not Resumable.
func Memory(a env.Agent) ([]byte, error) {
	if r, ok := a.(Resumable); ok {
		return r.AppendMemory(nil)
	}
	return nil, errors.New("it is a program of its own, whose memory cannot be read")
}

// Recall returns a new agent with what Memory returned.
func Recall(factory AgentFactory, memory []byte) (env.Agent, error) {
	a, err := factory(0) // what matters of the seed is in the memory
	if err != nil {
		return nil, err
	}
	err = errors.New("it cannot be resumed")
	if r, ok := a.(Resumable); ok {
		err = r.RestoreMemory(memory)
	}
	if err != nil {
		return nil, errors.Join(err, CloseAgents([]env.Agent{a}))
	}
	return a, nil
}

// A Seated is what plays a seat of an environment.
type Seated struct {
	Agent env.Agent // nil if the seat is driven or asked, or if the environment has never been reset
	// Choice is what plays the seat; its ID is NoOpponent if the seat is driven, or if the environment has never been
	// reset. After SetMixtures it may be missing from the seat's mixture: it plays on to the end of the episode. Its
	// weight does not matter, except that a choice which asks has one above 0.
	Choice Choice
}

// Seated returns what plays a seat of environment i. The Env keeps using its agent.
func (e *Env) Seated(i, seat int) Seated {
	k := i*e.c.Seats + seat
	seated := Seated{Agent: e.agents[k], Choice: Choice{ID: NoOpponent}}
	if c := e.playing[k]; c != nil {
		seated.Choice = *c
	}
	return seated
}

// Live reports whether environment i has been reset or restored.
func (e *Env) Live(i int) bool { return e.slots[i].live }

// Resume is Restore with what is to play on, one for each seat; driven seats have no agent, and asked seats only a
// Choice that asks. Unless it returns an error, the Env owns the agents and has closed those that they replace.
func (e *Env) Resume(i int, src []byte, agents []Seated) error {
	if err := e.CheckSnapshot(i, src); err != nil {
		return err
	}
	if len(agents) != e.c.Seats {
		return fmt.Errorf("vec %s: environment %d: %d agents to resume, want one for each of %d seats",
			e.g.Name, i, len(agents), e.c.Seats)
	}
	for seat, a := range agents {
		asked := a.Choice.Agent == nil && a.Choice.Weight > 0
		if (a.Agent == nil) != (asked || e.driven.Has(seat)) {
			return fmt.Errorf("vec %s: environment %d, seat %d: want an agent for every seat that is not driven or asked, "+
				"and none for one that is", e.g.Name, i, seat)
		}
		if !e.driven.Has(seat) && (!asked && a.Choice.Agent == nil || a.Choice.ID == NoOpponent) {
			return fmt.Errorf("vec %s: environment %d, seat %d: the agent has the ID %d, want less, and a factory",
				e.g.Name, i, seat, a.Choice.ID)
		}
	}
	return e.put(i, src, func(i int) error {
		first := i * e.c.Seats
		err := CloseAgents(e.agents[first : first+e.c.Seats])
		for seat, a := range agents {
			e.agents[first+seat], e.playing[first+seat] = a.Agent, nil
			if !e.driven.Has(seat) {
				e.playing[first+seat] = e.choice(seat, a.Choice)
			}
		}
		return err
	})
}

// choice returns c as it stands in the mixture of a seat, or as it is if the mixture does not have it.
func (e *Env) choice(seat int, c Choice) *Choice {
	e.count(c.ID)
	e.mayAsk(c.Agent == nil)
	own := e.pools[seat].choices
	if k := slices.IndexFunc(own, func(o Choice) bool { return o.ID == c.ID }); k >= 0 {
		return &own[k]
	}
	return &c
}

// Forget makes all environments as New made them, at the first rung of a curriculum, closes their agents, and sets the
// tallies to zero.
func (e *Env) Forget() error {
	for i := range e.slots {
		e.traceDrop(i)
		e.slots[i] = slot{seats: emptyRows}
	}
	clear(e.masks)
	clear(e.playing)
	clear(e.places)
	for i := range e.tallies {
		e.tallies[i] = e.tallies[i][:0]
	}
	e.counted = 0
	for seat := range e.pools {
		for _, c := range e.pools[seat].choices {
			e.count(c.ID)
		}
	}
	return CloseAgents(e.agents)
}

// choices are what plays in environment i, by seat.
func (e *Env) choices(i int) []*Choice { return e.playing[i*e.c.Seats : (i+1)*e.c.Seats] }

// become makes environment i a copy of one with this position, slot and these agents.
func (e *Env) become(i int, s env.State, sl slot, playing []*Choice) error {
	e.traceDrop(i)
	e.states[i].CopyFrom(s)
	e.slots[i] = sl
	e.slots[i].traced = false
	for set := e.others(); set != 0; set = set.Rest() {
		seat := set.First()
		if err := e.seat(i, seat, playing[seat]); err != nil {
			return err
		}
	}
	return e.resume(i, e.renewAgents)
}

// CloneAll makes each environment dst[k] a copy of src[k], including seed and random generator, but with agents of its
// own. Unless one of them is reseeded, both behave alike from then on. A source that is overwritten too is copied as it
// was before. It keeps one position aside, however many are exchanged. No environment may be in dst twice. Their rungs
// in a curriculum stay.
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
		return s, e.become(int(d), e.states[s], e.slots[s], e.choices(int(s)))
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
