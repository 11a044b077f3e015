package batch

import (
	"errors"
	"fmt"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/checkpoint"
	"blockyard/rpc/server/games"
)

// A resumption has the games that are being resumed and the agents that will play in them.
type resumption struct {
	b         *Batch
	head      *checkpoint.Head
	places    []int // of the games in the batch
	games     []*checkpoint.Game
	agents    [][]vec.Seated // by game
	policy    [][]env.Agent  // by game
	opponents *Opponents
	loaded    int64 // what opponents has been accounted for, besides what those of the batch are
}

// Resume continues games of a checkpoint, and records in progress of them: all of the list or, after an error, none.
func (b *Batch) Resume(list []int, head, games, drafts []byte) error {
	r := &resumption{b: b, places: list}
	if err := r.read(head, games); err != nil {
		return err
	}
	recordings, err := b.recordings(drafts, list)
	if err != nil {
		return err
	}
	before := b.tab.Memory()
	err = r.create()
	r.loaded = b.tab.Memory() - before
	if err == nil && r.head.Policy != "" {
		_, err = b.SetPolicy(r.head.Policy)
	}
	if err != nil {
		_ = b.tab.Add(-r.loaded)
		return errors.Join(err, r.close())
	}
	if err := r.apply(); err != nil {
		return err
	}
	if len(recordings) > 0 {
		b.Recorder.Continue(recordings, func(i int) bool {
			b.Env.ContinueTrace(i)
			return b.Env.Traced(i)
		})
	}
	return nil
}

func (r *resumption) read(head, games []byte) (err error) {
	if r.head, err = checkpoint.ReadHead(head, r.b.head()); err != nil {
		return badCheckpoint(-1, err)
	}
	for k, i := range r.places {
		var one []byte
		if one, games, err = checkpoint.Cut(games); err != nil {
			return badCheckpoint(k, err)
		}
		g, err := checkpoint.Parse(one, r.b.kind())
		if err == nil {
			err = r.b.Env.CheckSnapshot(i, g.Snapshot)
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
func (r *resumption) checkSeats(g *checkpoint.Game) error {
	var opponents, policy env.Seats
	for _, o := range g.Opponents {
		if opponents.Has(o.Seat) || int(o.Number) >= len(r.head.Opponents) {
			return fmt.Errorf("it has opponent %d of %d in seat %d, or two there", o.Number, len(r.head.Opponents), o.Seat)
		}
		opponents |= 1 << o.Seat
	}
	for _, p := range g.Policy {
		if policy.Has(p.Seat) || !r.b.Env.Driven().Has(p.Seat) || r.head.Policy == "" {
			return fmt.Errorf("it has a rollout policy for seat %d, which is not expected", p.Seat)
		}
		policy |= 1 << p.Seat
	}
	if all := env.Seats(1)<<r.b.Config.Seats - 1; opponents != all&^r.b.Env.Driven() {
		return errors.New("it has not one opponent for each seat that is not driven")
	}
	return nil
}

func (r *resumption) create() (err error) {
	used := map[uint16]bool{}
	for _, g := range r.games {
		for _, o := range g.Opponents {
			used[o.Number] = true
		}
	}
	var more int64
	r.opponents, more = r.b.revive(r.head)
	if err := r.b.tab.Add(more); err != nil {
		return err
	}
	r.opponents.memory += more
	if err := r.opponents.fill(r.head, used); err != nil {
		return err
	}
	var policy vec.AgentFactory
	if r.head.Policy != "" {
		defer r.b.tab.Back(r.b.tab.Memory())
		if policy, err = r.loadPolicy(); err != nil {
			return refused("resume: the rollout policy", err)
		}
	}
	for k, g := range r.games {
		agents, players := make([]vec.Seated, r.b.Config.Seats), make([]env.Agent, r.b.Config.Seats)
		r.agents, r.policy = append(r.agents, agents), append(r.policy, players)
		for _, o := range g.Opponents {
			known := &r.opponents.known[o.Number]
			agents[o.Seat].Choice = vec.Choice{Agent: known.factory, Weight: 1, ID: o.Number}
			if agents[o.Seat].Agent, err = vec.Recall(known.factory, o.Memory); err != nil {
				return badCheckpoint(k, fmt.Errorf("the opponent %.80q: %w", known.spec, err))
			}
		}
		for _, p := range g.Policy {
			if players[p.Seat], err = vec.Recall(policy, p.Memory); err != nil {
				return badCheckpoint(k, fmt.Errorf("the rollout policy %.80q: %w", r.head.Policy, err))
			}
		}
	}
	return nil
}

// loadPolicy returns what makes the agents of the head's policy: that of the batch if it is the same, or a new one.
func (r *resumption) loadPolicy() (vec.AgentFactory, error) {
	b := r.b
	if b.Policy != nil && b.Policy.text == r.head.Policy {
		return b.Policy.factory, nil
	}
	m, err := b.agents.memory(b.Game, r.head.Policy, false)
	if err != nil {
		return nil, err
	}
	f, _, err := b.agents.load(b.tab, b.Game, r.head.Policy, false, b.policyMemory(m))
	return f, err
}

// close closes agents that were created in vain.
func (r *resumption) close() error {
	var errs []error
	for k := range r.agents {
		for _, a := range r.agents[k] {
			errs = append(errs, vec.CloseAgents([]env.Agent{a.Agent}))
		}
		errs = append(errs, vec.CloseAgents(r.policy[k]))
	}
	return errors.Join(errs...)
}

// apply puts the games and their agents into the batch, and the opponents of episodes to come.
func (r *resumption) apply() error {
	b := r.b
	if !slices.Equal(r.head.Opponents, b.Opponents.Specs(0)) { // the numbers of the games played so far are others
		if err := b.Env.Forget(); err != nil {
			return err
		}
	}
	if err := b.Env.SetMixtures(r.opponents.mixtures); err != nil {
		return err
	}
	_ = b.tab.Add(r.opponents.memory - b.Opponents.memory - r.loaded) // less: r.loaded has all that is more
	b.Opponents = r.opponents
	for k, i := range r.places {
		if err := b.Env.Resume(i, r.games[k].Snapshot, r.agents[k]); err != nil {
			return err
		}
		if b.Policy == nil {
			continue
		}
		if err := b.Policy.take(i, r.policy[k], r.games[k].Policy); err != nil {
			return err
		}
	}
	b.Opponents.retire()
	b.began = true
	for i := range b.Config.Envs {
		b.began = b.began && b.Env.Live(i)
	}
	return nil
}

// recordings reads the records in progress of some of the games in list.
func (b *Batch) recordings(lines []byte, list []int) ([]games.Recording, error) {
	switch {
	case len(lines) == 0:
		return nil, nil
	case b.Recorder == nil || b.Recorder.Stopped():
		return nil, badParams("resume: drafts: handle %d is not being recorded: call record first", b.ID)
	}
	all, err := games.ReadInProgress(lines, list, b.Config.Seats)
	if err != nil {
		return nil, badParams("resume: drafts, %v", err)
	}
	return all, nil
}
