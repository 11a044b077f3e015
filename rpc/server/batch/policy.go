package batch

import (
	"errors"

	"blockyard/agents/bots/entry"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/checkpoint"
	"blockyard/rpc/wire"
)

// A Policy plays the driven seats of a batch in rollouts. It has an agent for each seat of each game
// and keeps it from rollout to rollout, so that one long rollout equals several short ones.
type Policy struct {
	text    string // the spec that the client sent
	factory vec.AgentFactory
	weights Weights // that it was loaded from
	b       *Batch
	memory  int64                // counted towards the limit
	agents  []env.Agent          // [games, seats]
	episode []checkpoint.Episode // of each agent
	views   []env.State          // by worker
	errs    []error              // by worker
}

// Streams of a game's seed for policies, distinct from those of package vec.
const (
	policyAgents = 1 << 61
	policyViews  = 1 << 60
)

// Random is the policy that needs no agents.
const Random = "random"

// SetPolicy makes the policy with a spec play rollouts; Random ones are of random legal actions.
func (b *Batch) SetPolicy(text string) (*Policy, error) {
	switch {
	case text == Random:
		return nil, nil
	case b.Policy != nil && b.Policy.text == text:
		return b.Policy, nil
	}
	m, err := b.agents.memory(b.Game, text, true)
	if err != nil {
		return nil, refused("rollout: policy", err)
	}
	if err := b.dropPolicy(); err != nil {
		return nil, err
	}
	before := b.tab.Memory()
	factory, weights, err := b.agents.load(b.tab, b.Game, text, true, b.policyMemory(m))
	if err != nil {
		return nil, refused("rollout: policy", err)
	}
	seats := b.Config.Envs * b.Config.Seats
	b.Policy = &Policy{text: text, factory: factory, weights: weights, b: b, memory: b.tab.Memory() - before,
		agents: make([]env.Agent, seats), episode: make([]checkpoint.Episode, seats),
		errs: make([]error, b.Config.Workers)}
	for range b.Config.Workers {
		b.Policy.views = append(b.Policy.views, b.Game.New(b.Config.Seats))
	}
	return b.Policy, nil
}

// policyMemory is what agents for all driven seats take, without the weights that they are loaded from.
func (b *Batch) policyMemory(m entry.Memory) int64 {
	agents := b.Config.Envs * b.Env.Driven().Len()
	return m.Spec + int64(min(b.Config.Workers, b.Config.Envs))*m.Search + int64(agents)*agentMemory + beyond(m, agents)
}

// dropPolicy closes the agents of the policy, if there is one.
func (b *Batch) dropPolicy() error {
	p := b.Policy
	if p == nil {
		return nil
	}
	b.Policy = nil
	_ = b.tab.Add(-p.memory)
	return vec.CloseAgents(p.agents)
}

// Play plays one step of a rollout into at and restarts the games that ended. A nil p plays random legal actions.
func (b *Batch) Play(p *Policy, at *Place) error {
	if b.ctx.Err() != nil {
		return wire.Errorf(wire.Draining, "the session ended during the rollout")
	}
	err := b.renew(at)
	switch {
	case err != nil:
		return err
	case p == nil:
		err = b.Env.Sample(b.Actions)
	default:
		err = p.choose()
	}
	if err != nil {
		return err
	}
	return b.Step(at)
}

// renew resets ended games if autoreset is Disabled.
func (b *Batch) renew(at *Place) error {
	if b.Config.Autoreset != vec.Disabled {
		return nil
	}
	var mask []bool
	for i := range b.Config.Envs {
		if b.Env.Ended(i) {
			if mask == nil {
				mask = make([]bool, b.Config.Envs)
			}
			mask[i] = true
		}
	}
	if mask == nil {
		return nil
	}
	return b.reset(vec.Seeds{}, mask, at)
}

// choose fills the batch's actions. If an agent fails or the session ends, it returns an error before any game is
// stepped.
func (p *Policy) choose() error {
	clear(p.errs)
	if err := p.b.Env.Each(p.game); err != nil {
		return err
	}
	return errors.Join(p.errs...)
}

// game chooses the actions of all rows of game i.
func (p *Policy) game(worker, i int) {
	b := p.b
	rows := b.Env.Rows()
	for r := range rows {
		b.Actions[i*rows+r] = 0 // ignored
		seat := b.Env.Seat(i, r)
		if seat == vec.NoSeat || b.Env.Ended(i) || p.errs[worker] != nil {
			continue
		}
		a, err := p.act(worker, i, seat)
		if err != nil {
			p.errs[worker] = wire.Errorf(wire.Opponent, "rollout: game %d, seat %d: %v", i, seat, err)
		}
		b.Actions[i*rows+r] = a
	}
}

func (p *Policy) act(worker, i, seat int) (env.Action, error) {
	seed, episode := p.b.Env.Seed(i)
	stream := func(kind uint64) uint64 { return env.Derive(env.Derive(seed, kind+episode), uint64(seat)) }
	k := i*p.b.Config.Seats + seat
	at, agent := &p.episode[k], &p.agents[k]
	if *agent == nil || seed != at.Seed || episode != at.Episode {
		if err := vec.Renew(agent, p.factory, stream(policyAgents)); err != nil {
			return env.None, err
		}
		*at = checkpoint.Episode{Seed: seed, Episode: episode}
	}
	at.Decisions++
	env.View(p.views[worker], p.b.Env.State(i), seat, env.Derive(stream(policyViews), at.Decisions))
	a, err := (*agent).Act(p.b.ctx, p.views[worker], seat)
	if err == nil {
		err = p.b.ctx.Err() // an action found after the end is not the agent's best
	}
	return a, err
}

// take replaces the agents of game i.
func (p *Policy) take(i int, agents []env.Agent, saved []checkpoint.Agent) error {
	first := i * p.b.Config.Seats
	err := vec.CloseAgents(p.agents[first : first+p.b.Config.Seats])
	copy(p.agents[first:], agents)
	for _, s := range saved {
		p.episode[first+s.Seat] = s.At
	}
	return err
}
