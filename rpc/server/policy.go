package server

import (
	"context"
	"errors"

	"blockyard/agents/bots/entry"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/checkpoint"
	"blockyard/rpc/wire"
)

// A policy plays the driven seats of a handle in rollouts. It has an agent for each seat of each game
// and keeps it from rollout to rollout, so that one long rollout equals several short ones.
type policy struct {
	text    string // the spec that the client sent
	factory vec.AgentFactory
	weights weights // that it was loaded from
	h       *handle
	memory  int64 // counted towards the limit
	ctx     context.Context
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

// random is the policy that needs no agents.
const random = "random"

// policyFor returns the policy with the spec text, nil for random legal actions.
func (s *session) policyFor(h *handle, text string) (*policy, error) {
	switch {
	case text == random:
		return nil, nil
	case h.policy != nil && h.policy.text == text:
		return h.policy, nil
	}
	m, err := s.agentsMemory(h.game, text, true)
	if err != nil {
		return nil, wire.Errorf(wire.BadParams, "rollout: policy: %v", err)
	}
	if err := s.dropPolicy(h); err != nil {
		return nil, err
	}
	need := h.policyMemory(m)
	if err := s.accountAgents(text, need); err != nil {
		return nil, err
	}
	factory, weights, err := s.agent(h.game, text, true)
	if err != nil {
		s.account(0, 0, -need)
		return nil, wire.Errorf(wire.BadParams, "rollout: policy: %v", err)
	}
	if err := s.accountAgents(text, weights.memory()); err != nil {
		s.account(0, 0, -need)
		return nil, err
	}
	seats := h.c.Envs * h.c.Seats
	p := &policy{text: text, factory: factory, weights: weights, h: h, ctx: s.ctx, agents: make([]env.Agent, seats),
		episode: make([]checkpoint.Episode, seats), errs: make([]error, h.c.Workers), memory: need + weights.memory()}
	h.memory += p.memory
	for range h.c.Workers {
		p.views = append(p.views, h.game.New(h.c.Seats))
	}
	h.policy = p
	return p, nil
}

// policyMemory is what agents for all driven seats take, without the weights that they are loaded from.
func (h *handle) policyMemory(m entry.Memory) int64 {
	agents := h.c.Envs * h.env.Driven().Len()
	return m.Spec + int64(min(h.c.Workers, h.c.Envs))*m.Search + int64(agents)*agentMemory + beyond(m, agents)
}

// dropPolicy closes the agents of the handle's policy, if it has one.
func (s *session) dropPolicy(h *handle) error {
	p := h.policy
	if p == nil {
		return nil
	}
	h.policy = nil
	h.memory -= p.memory
	s.account(0, 0, -p.memory)
	return vec.CloseAgents(p.agents)
}

// choose fills h.actions. If an agent fails or the session ends, it returns an error before any game is stepped.
func (p *policy) choose() error {
	clear(p.errs)
	if err := p.h.env.Each(p.game); err != nil {
		return err
	}
	return errors.Join(p.errs...)
}

// game chooses the actions of all rows of game i.
func (p *policy) game(worker, i int) {
	h := p.h
	rows := h.env.Rows()
	for r := range rows {
		h.actions[i*rows+r] = 0 // ignored
		seat := h.env.Seat(i, r)
		if seat == vec.NoSeat || h.env.Ended(i) || p.errs[worker] != nil {
			continue
		}
		a, err := p.act(worker, i, seat)
		if err != nil {
			p.errs[worker] = wire.Errorf(wire.Opponent, "rollout: game %d, seat %d: %v", i, seat, err)
		}
		h.actions[i*rows+r] = a
	}
}

func (p *policy) act(worker, i, seat int) (env.Action, error) {
	seed, episode := p.h.env.Seed(i)
	stream := func(kind uint64) uint64 { return env.Derive(env.Derive(seed, kind+episode), uint64(seat)) }
	k := i*p.h.c.Seats + seat
	at, agent := &p.episode[k], &p.agents[k]
	if *agent == nil || seed != at.Seed || episode != at.Episode {
		if err := vec.Renew(agent, p.factory, stream(policyAgents)); err != nil {
			return env.None, err
		}
		*at = checkpoint.Episode{Seed: seed, Episode: episode}
	}
	at.Decisions++
	env.View(p.views[worker], p.h.env.State(i), seat, env.Derive(stream(policyViews), at.Decisions))
	a, err := (*agent).Act(p.ctx, p.views[worker], seat)
	if err == nil {
		err = p.ctx.Err() // an action found after the end is not the agent's best
	}
	return a, err
}
