package server

import (
	"context"
	"errors"
	"io"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// A policy plays the driven seats of a handle in rollouts. It has an agent for each seat of each game
// and keeps it from rollout to rollout, so that one long rollout equals several short ones.
type policy struct {
	text    string // the spec that the client sent
	factory vec.AgentFactory
	h       *handle
	memory  int64 // counted towards the limit
	ctx     context.Context
	players []policyPlayer // [games, seats]
	views   []env.State    // by worker
	errs    []error        // by worker
}

// A policyPlayer is the agent of one seat of one game.
type policyPlayer struct {
	agent     env.Agent
	seed      uint64 // of the game
	episode   uint64
	decisions uint64 // made in this episode
	made      bool
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
	factory, err := s.srv.player(h.game, text)
	if err != nil {
		return nil, err
	}
	if err := h.policy.close(); err != nil {
		return nil, wire.Errorf(wire.Opponent, "rollout: %v", err)
	}
	if h.policy != nil {
		h.memory -= h.policy.memory
		_ = s.srv.enlarge(-h.policy.memory) // giving memory back never fails
		h.policy = nil
	}
	p := &policy{text: text, factory: factory, h: h, ctx: s.ctx, memory: int64(h.c.Envs*h.env.Driven().Len()) * agentMemory}
	if err := s.srv.enlarge(p.memory); err != nil {
		return nil, err
	}
	h.memory += p.memory
	p.players = make([]policyPlayer, h.c.Envs*h.c.Seats)
	for range h.c.Workers {
		p.views = append(p.views, h.game.New(h.c.Seats))
	}
	p.errs = make([]error, h.c.Workers)
	h.policy = p
	return p, nil
}

// choose fills h.actions. If an agent fails, it returns an error before any game is stepped.
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
		h.actions[i*rows+r] = env.None
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
	one := &p.players[i*p.h.c.Seats+seat]
	seed, episode := p.h.env.Seed(i)
	if !one.made || seed != one.seed || episode != one.episode {
		if err := one.begin(p.factory, seed, episode, seat); err != nil {
			return env.None, err
		}
	}
	one.decisions++
	draws := env.Derive(env.Derive(env.Derive(seed, policyViews+episode), uint64(seat)), one.decisions)
	env.View(p.views[worker], p.h.env.State(i), seat, draws)
	return one.agent.Act(p.ctx, p.views[worker], seat)
}

// begin prepares the agent for an episode.
func (one *policyPlayer) begin(factory vec.AgentFactory, seed, episode uint64, seat int) error {
	own := env.Derive(env.Derive(seed, policyAgents+episode), uint64(seat))
	if again, ok := one.agent.(interface{ NewGame(uint64) }); ok {
		again.NewGame(own)
	} else {
		if err := closeOne(one.agent); err != nil {
			return err
		}
		agent, err := factory(own)
		if err != nil {
			return err
		}
		one.agent = agent
	}
	one.seed, one.episode, one.decisions, one.made = seed, episode, 0, true
	return nil
}

// close closes all agents. A nil policy has none.
func (p *policy) close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for i := range p.players {
		errs = append(errs, closeOne(p.players[i].agent))
		p.players[i] = policyPlayer{}
	}
	return errors.Join(errs...)
}

func closeOne(a env.Agent) error {
	if c, ok := a.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
