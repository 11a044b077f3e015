package vec

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"blockyard/env"
)

// Renew prepares *agent, nil at first, for a new episode. An agent with a method
// NewGame(seed uint64) is kept; any other is closed, if it is an io.Closer, and replaced by
// one from the factory.
func Renew(agent *env.Agent, factory AgentFactory, seed uint64) error {
	if a, ok := (*agent).(interface{ NewGame(seed uint64) }); ok {
		a.NewGame(seed)
		return nil
	}
	err := closeAgent(agent)
	if err == nil {
		*agent, err = factory(seed)
	}
	return err
}

// CloseAgents closes the agents that are io.Closers and replaces all of them by nil.
func CloseAgents(agents []env.Agent) error {
	var errs []error
	for k := range agents {
		errs = append(errs, closeAgent(&agents[k]))
	}
	return errors.Join(errs...)
}

func closeAgent(agent *env.Agent) error {
	c, ok := (*agent).(io.Closer)
	*agent = nil
	if !ok {
		return nil
	}
	return c.Close()
}

// SetAgent replaces the factory of a seat that has an agent. An environment keeps its agent
// until its next episode, or until a method such as Restore or Clone gives it new agents.
func (e *Env) SetAgent(seat int, factory AgentFactory) error {
	if factory == nil || seat < 0 || seat >= e.c.Seats || e.driven.Has(seat) {
		return fmt.Errorf("vec %s: no agent for seat %d: want a factory and a seat that has an agent", e.g.Name, seat)
	}
	e.c.Agents[seat] = factory
	for k := seat; k < len(e.stale); k += e.c.Seats {
		e.stale[k] = true
	}
	return nil
}

// renewAgents prepares the agents of environment i for a new episode.
func (e *Env) renewAgents(i int) error {
	for seat, factory := range e.c.Agents {
		if factory == nil {
			continue
		}
		k := i*e.c.Seats + seat
		var err error
		if e.stale[k] {
			e.stale[k], err = false, closeAgent(&e.agents[k])
		}
		if err == nil {
			err = Renew(&e.agents[k], factory, e.slots[i].agentSeed(seat))
		}
		if err != nil {
			return fmt.Errorf("seat %d: %w", seat, err)
		}
	}
	return nil
}

// askAgents writes the actions of the agents of the seats in set to moves.
func (e *Env) askAgents(w *worker, i int, set env.Seats, moves *env.Moves) error {
	s := e.states[i]
	for ; set != 0; set = set.Rest() {
		seat := set.First()
		env.View(w.view, s, seat, e.slots[i].next())
		a, err := e.agents[i*e.c.Seats+seat].Act(e.c.Context, w.view, seat)
		if err != nil {
			return fmt.Errorf("seat %d: %w", seat, err)
		}
		w.legal = s.Legal(seat, w.legal[:0])
		if _, ok := slices.BinarySearch(w.legal, a); !ok && a != env.None {
			return fmt.Errorf("seat %d: its agent answers %w: %d", seat, env.ErrIllegal, a)
		}
		moves[seat] = a
	}
	return nil
}
