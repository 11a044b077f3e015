package batch

import (
	"errors"
	"fmt"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/checkpoint"
	"blockyard/rpc/session/recorder"
)

// A revived is a game that is being resumed, with the agents that will play in it.
type revived struct {
	*checkpoint.Game
	agents []vec.Seated // by seat
	policy []env.Agent  // by seat
}

// Resume continues games of a checkpoint, and recordings of them: all of the list or, after an error, none.
func (b *Batch) Resume(list []int, head, games, lines []byte) error {
	h, all, err := b.readCheckpoint(list, head, games)
	if err != nil {
		return err
	}
	recordings, err := b.recordings(lines, list)
	if err != nil {
		return err
	}
	before := b.tab.Memory()
	opponents, err := b.create(h, all)
	loaded := b.tab.Memory() - before // for opponents, besides what those of the batch are accounted for
	if err == nil && h.Policy != "" {
		_, err = b.SetPolicy(h.Policy)
	}
	if err != nil {
		_ = b.tab.Add(-loaded)
		for _, g := range all { // created in vain
			for _, a := range g.agents {
				err = errors.Join(err, vec.CloseAgents([]env.Agent{a.Agent}))
			}
			err = errors.Join(err, vec.CloseAgents(g.policy))
		}
		return err
	}
	if !slices.Equal(h.Opponents, b.Opponents.Specs(0)) { // the numbers of the games played so far are others
		if err := b.Env.Forget(); err != nil {
			return err
		}
	}
	if err := b.Env.SetMixtures(opponents.mixtures, opponents.curriculum); err != nil {
		return err
	}
	_ = b.tab.Add(opponents.memory - b.Opponents.memory - loaded) // less: loaded has all that is more
	b.Opponents = opponents
	for k, i := range list {
		if err := b.Env.Resume(i, all[k].Snapshot, all[k].agents); err != nil {
			return err
		}
		b.Env.SetTalliesOf(i, all[k].Results)
		if h.Curriculum != nil {
			if err := b.Env.SetPlace(i, all[k].Place); err != nil {
				return err
			}
		}
		if b.Policy != nil {
			if err := b.Policy.take(i, all[k].policy, all[k].Policy); err != nil {
				return err
			}
		}
	}
	b.Opponents.retire()
	b.began = true
	for i := range b.Config.Envs {
		b.began = b.began && b.Env.Live(i)
	}
	if len(recordings) > 0 {
		b.Recorder.Continue(recordings, b.Env.ContinueTrace)
	}
	return nil
}

// readCheckpoint reads a head and as many games as the list has places, which must fit the batch.
func (b *Batch) readCheckpoint(list []int, head, games []byte) (h *checkpoint.Head, all []revived, err error) {
	if h, err = checkpoint.ReadHead(head, b.head()); err != nil {
		return nil, nil, badCheckpoint(-1, err)
	}
	for k, i := range list {
		var one []byte
		if one, games, err = checkpoint.Cut(games); err != nil {
			return nil, nil, badCheckpoint(k, err)
		}
		g, err := checkpoint.Parse(one, b.kind())
		if err == nil {
			err = b.Env.CheckSnapshot(i, g.Snapshot)
		}
		if err == nil {
			err = b.checkSeats(h, g)
		}
		if err != nil {
			return nil, nil, badCheckpoint(k, err)
		}
		all = append(all, revived{g, make([]vec.Seated, b.Config.Seats), make([]env.Agent, b.Config.Seats)})
	}
	if len(games) > 0 {
		return nil, nil, badCheckpoint(-1, fmt.Errorf("it has %d bytes more than those of %d games", len(games), len(list)))
	}
	return h, all, nil
}

// checkSeats wants an opponent for every seat that is not driven, and a policy at most for those that are.
func (b *Batch) checkSeats(h *checkpoint.Head, g *checkpoint.Game) error {
	var opponents, policy env.Seats
	for _, o := range g.Opponents {
		if opponents.Has(o.Seat) || int(o.Number) >= len(h.Opponents) {
			return fmt.Errorf("it has opponent %d of %d in seat %d, or two there", o.Number, len(h.Opponents), o.Seat)
		}
		opponents |= 1 << o.Seat
	}
	for _, p := range g.Policy {
		if policy.Has(p.Seat) || !b.Env.Driven().Has(p.Seat) || h.Policy == "" {
			return fmt.Errorf("it has a rollout policy for seat %d, which is not expected", p.Seat)
		}
		policy |= 1 << p.Seat
	}
	for _, r := range g.Results {
		if int(r.ID) >= len(h.Opponents) {
			return fmt.Errorf("it has results against opponent %d of %d", r.ID, len(h.Opponents))
		}
	}
	if all := env.Seats(1)<<b.Config.Seats - 1; opponents != all&^b.Env.Driven() {
		return errors.New("it has not one opponent for each seat that is not driven")
	}
	return nil
}

// create loads the opponents of a checkpoint, for which it accounts, and creates the agents of its games.
func (b *Batch) create(h *checkpoint.Head, all []revived) (*Opponents, error) {
	used := map[uint16]bool{}
	for _, g := range all {
		for _, o := range g.Opponents {
			used[o.Number] = true
		}
	}
	opponents, more := b.revive(h)
	if err := b.tab.Add(more); err != nil {
		return nil, err
	}
	opponents.memory += more
	if err := opponents.fill(h, used); err != nil {
		return nil, err
	}
	var policy vec.AgentFactory
	var err error
	if h.Policy != "" {
		defer b.tab.Back(b.tab.Memory())
		if policy, err = b.loadPolicy(h.Policy); err != nil {
			return nil, refused("resume: the rollout policy", err)
		}
	}
	for k, g := range all {
		if err := opponents.recall(g.Game, g.agents); err != nil {
			return nil, badCheckpoint(k, err)
		}
		for _, p := range g.Policy {
			if g.policy[p.Seat], err = vec.Recall(policy, p.Memory); err != nil {
				return nil, badCheckpoint(k, fmt.Errorf("the rollout policy %.80q: %w", h.Policy, err))
			}
		}
	}
	return opponents, nil
}

// recall makes agents, by seat, those that play in a game.
func (l *Opponents) recall(g *checkpoint.Game, agents []vec.Seated) (err error) {
	for _, o := range g.Opponents {
		known := &l.known[o.Number]
		agents[o.Seat].Choice = vec.Choice{Agent: known.factory, Weight: 1, ID: o.Number}
		if known.asked {
			continue
		}
		if agents[o.Seat].Agent, err = vec.Recall(known.factory, o.Memory); err != nil {
			return fmt.Errorf("the opponent %.80q: %w", known.spec, err)
		}
	}
	return nil
}

// loadPolicy returns what makes the agents of a policy: that of the batch if it has this one, or one that it loads.
func (b *Batch) loadPolicy(text string) (vec.AgentFactory, error) {
	if b.Policy != nil && b.Policy.text == text {
		return b.Policy.factory, nil
	}
	m, err := b.agents.memory(b.Game, text, false)
	if err != nil {
		return nil, err
	}
	f, _, err := b.agents.load(b.tab, b.Game, text, false, b.policyMemory(m))
	return f, err
}

// recordings reads the recordings of some of the games in list.
func (b *Batch) recordings(lines []byte, list []int) ([]recorder.Recording, error) {
	switch {
	case len(lines) == 0:
		return nil, nil
	case b.Recorder == nil || b.Recorder.Stopped():
		return nil, badParams("resume: recordings: handle %d is not being recorded: call record first", b.ID)
	}
	all, err := recorder.ReadRecordings(lines, list, b.Config.Seats)
	if err != nil {
		return nil, badParams("resume: recordings, %v", err)
	}
	return all, nil
}
