package server

import (
	"errors"
	"fmt"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/checkpoint"
	"blockyard/rpc/server/games"
	"blockyard/rpc/wire"
)

// A revival is games being resumed, with the agents that will play in them.
type revival struct {
	s         *session
	h         *handle
	head      *checkpoint.Head
	places    []int // of the games in the handle
	games     []*checkpoint.Game
	agents    [][]vec.Seated // by game
	policy    [][]env.Agent  // by game
	opponents *lineup
	loaded    int64 // what opponents has been accounted for, besides what those of the handle are
}

// resume continues games of a checkpoint: all of them or, after an error, none.
func (s *session) resume(f *wire.Frame, h *handle) error {
	list, err := h.selected(f, 1, "games", true)
	if err != nil {
		return err
	}
	head, err := f.Bin(2, "head")
	if err != nil {
		return err
	}
	games, err := f.Bin(3, "the games of the checkpoint")
	if err != nil {
		return err
	}
	var o struct {
		Slot   *int64 `msgpack:"slot"`
		Drafts []byte `msgpack:"drafts"`
	}
	if err := f.Options(4, &o); err != nil {
		return err
	}
	at, err := h.to("resume", o.Slot)
	if err != nil {
		return err
	}
	r := &revival{s: s, h: h, places: list}
	if err := r.read(head, games); err != nil {
		return err
	}
	drafts, err := h.recordings(o.Drafts, list)
	if err != nil {
		return err
	}
	err = r.create()
	if err == nil && r.head.Policy != "" {
		_, err = s.policyFor(h, r.head.Policy)
	}
	if err != nil {
		s.account(0, 0, -r.loaded)
		return errors.Join(err, r.close())
	}
	if err := r.apply(); err != nil {
		return err
	}
	if len(drafts) > 0 {
		h.recorder.Continue(drafts, func(i int) bool {
			h.env.ContinueTrace(i)
			return h.env.Traced(i)
		})
	}
	return s.put(f, h, nil, putOptions{at: at})
}

// read checks the bytes.
func (r *revival) read(head, games []byte) (err error) {
	if r.head, err = checkpoint.ReadHead(head, r.h.checkpointHead()); err != nil {
		return badCheckpoint(-1, err)
	}
	for k, i := range r.places {
		var one []byte
		if one, games, err = checkpoint.Cut(games); err != nil {
			return badCheckpoint(k, err)
		}
		g, err := checkpoint.Parse(one, r.h.kind())
		if err == nil {
			err = r.h.env.CheckSnapshot(i, g.Snapshot)
		}
		if err == nil {
			err = r.checkSeats(g)
		}
		if err != nil {
			return badCheckpoint(k, err)
		}
		r.games = append(r.games, g)
	}
	if len(games) > 0 {
		return badCheckpoint(-1, fmt.Errorf("it has %d bytes more than those of %d games", len(games), len(r.places)))
	}
	return nil
}

// checkSeats wants an opponent for every seat that is not driven, and a policy at most for those that are.
func (r *revival) checkSeats(g *checkpoint.Game) error {
	var opponents, policy env.Seats
	for _, o := range g.Opponents {
		if opponents.Has(o.Seat) || int(o.Number) >= len(r.head.Opponents) {
			return fmt.Errorf("it has opponent %d of %d in seat %d, or two there", o.Number, len(r.head.Opponents), o.Seat)
		}
		opponents |= 1 << o.Seat
	}
	for _, p := range g.Policy {
		if policy.Has(p.Seat) || !r.h.env.Driven().Has(p.Seat) || r.head.Policy == "" {
			return fmt.Errorf("it has a rollout policy for seat %d, which is not expected", p.Seat)
		}
		policy |= 1 << p.Seat
	}
	if all := env.Seats(1)<<r.h.c.Seats - 1; opponents != all&^r.h.env.Driven() {
		return errors.New("it has not one opponent for each seat that is not driven")
	}
	return nil
}

// create loads the opponents and creates the agents of all games.
func (r *revival) create() (err error) {
	used := map[uint16]bool{}
	for _, g := range r.games {
		for _, o := range g.Opponents {
			used[o.Number] = true
		}
	}
	var more int64
	r.opponents, more = r.h.lineup(r.head)
	before := r.opponents.memory
	if err := r.s.account(0, 0, more); err != nil {
		return err
	}
	r.opponents.memory += more
	err = r.opponents.fill(r.s, r.h, r.head, used)
	if r.loaded = r.opponents.memory - before; err != nil {
		return err
	}
	var policy vec.AgentFactory
	if r.head.Policy != "" {
		release, err := r.reservePolicy()
		if err != nil {
			return err
		}
		defer release()
		if policy, _, err = r.s.agent(r.h.game, r.head.Policy, r.ownPolicy()); err != nil {
			return wire.Errorf(wire.BadParams, "resume: the rollout policy: %v", err)
		}
	}
	for k, g := range r.games {
		agents, players := make([]vec.Seated, r.h.c.Seats), make([]env.Agent, r.h.c.Seats)
		r.agents, r.policy = append(r.agents, agents), append(r.policy, players)
		for _, o := range g.Opponents {
			known := &r.opponents.known[o.Number]
			choice := vec.Choice{Agent: known.factory, Weight: 1, ID: o.Number}
			agents[o.Seat].Choice = choice
			if agents[o.Seat].Agent, err = recalled(known.factory, o.Memory); err != nil {
				return badCheckpoint(k, fmt.Errorf("the opponent %.80q: %w", known.spec, err))
			}
		}
		for _, p := range g.Policy {
			if players[p.Seat], err = recalled(policy, p.Memory); err != nil {
				return badCheckpoint(k, fmt.Errorf("the rollout policy %.80q: %w", r.head.Policy, err))
			}
		}
	}
	return nil
}

// ownPolicy reports whether the handle has the head's policy, which the client itself has named.
func (r *revival) ownPolicy() bool { return r.h.policy != nil && r.h.policy.text == r.head.Policy }

// reservePolicy accounts for the agents of the head's policy until release, unless the handle has that policy.
func (r *revival) reservePolicy() (release func(), err error) {
	if r.ownPolicy() {
		return func() {}, nil
	}
	m, err := r.s.agentsMemory(r.h.game, r.head.Policy, false)
	if err != nil {
		return nil, wire.Errorf(wire.BadParams, "resume: the rollout policy: %v", err)
	}
	need := r.h.policyMemory(m)
	return func() { r.s.account(0, 0, -need) }, r.s.accountAgents(r.head.Policy, need)
}

// recalled returns a new agent with that memory.
func recalled(factory vec.AgentFactory, memory []byte) (env.Agent, error) {
	a, err := factory(0) // what matters of the seed is in the memory
	if err != nil {
		return nil, err
	}
	agent, ok := a.(vec.Resumable)
	if !ok {
		return nil, errors.Join(errors.New("it cannot be resumed"), vec.CloseAgents([]env.Agent{a}))
	}
	if err := agent.RestoreMemory(memory); err != nil {
		return nil, errors.Join(err, vec.CloseAgents([]env.Agent{a}))
	}
	return a, nil
}

// close closes agents that were created in vain.
func (r *revival) close() error {
	var errs []error
	for k := range r.agents {
		for _, a := range r.agents[k] {
			errs = append(errs, vec.CloseAgents([]env.Agent{a.Agent}))
		}
		errs = append(errs, vec.CloseAgents(r.policy[k]))
	}
	return errors.Join(errs...)
}

// apply puts the games and their agents into the handle, and the opponents of episodes to come.
func (r *revival) apply() error {
	h := r.h
	if !slices.Equal(r.head.Opponents, h.opponents.specs(0)) { // the numbers of the games played so far are others
		if err := h.env.Forget(); err != nil {
			return err
		}
	}
	if err := h.env.SetMixtures(r.opponents.mixtures); err != nil {
		return err
	}
	r.s.lineUp(h, r.opponents, r.loaded)
	for k, i := range r.places {
		if err := h.env.Resume(i, r.games[k].Snapshot, r.agents[k]); err != nil {
			return err
		}
		if h.policy == nil {
			continue
		}
		if err := h.policy.take(i, r.policy[k], r.games[k].Policy); err != nil {
			return err
		}
	}
	before := h.opponents.memory
	h.opponents.retire(h.env)
	r.s.account(0, 0, h.opponents.memory-before)
	h.memory += h.opponents.memory - before
	h.began = true
	for i := range h.c.Envs {
		h.began = h.began && h.env.Live(i)
	}
	return nil
}

// lineUp replaces the opponents of a handle by others that are partly the same: the server has accounted for loaded
// more bytes than those of the handle.
func (s *session) lineUp(h *handle, opponents *lineup, loaded int64) {
	more := opponents.memory - h.opponents.memory
	s.account(0, 0, more-loaded)
	h.memory += more
	h.opponents = opponents
}

// take replaces the agents of game i.
func (p *policy) take(i int, agents []env.Agent, saved []checkpoint.Agent) error {
	first := i * p.h.c.Seats
	err := vec.CloseAgents(p.agents[first : first+p.h.c.Seats])
	copy(p.agents[first:], agents)
	for _, s := range saved {
		p.episode[first+s.Seat] = s.At
	}
	return err
}

// recordings reads the records in progress of some of the games in list.
func (h *handle) recordings(lines []byte, list []int) ([]games.Recording, error) {
	switch {
	case len(lines) == 0:
		return nil, nil
	case h.recorder == nil || h.recorder.Stopped():
		return nil, wire.Errorf(wire.BadParams, "resume: drafts: handle %d is not being recorded: call record first", h.id)
	}
	all, err := games.ReadInProgress(lines, list, h.c.Seats)
	if err != nil {
		return nil, wire.Errorf(wire.BadParams, "resume: drafts, %v", err)
	}
	return all, nil
}
