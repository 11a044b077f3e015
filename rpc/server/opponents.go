package server

import (
	"context"
	"io"
	"sync/atomic"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// A seatSwap is a seat that the server plays. Its agent can be replaced for the games that start later.
type seatSwap struct {
	now atomic.Pointer[vec.AgentFactory]
}

func (w *seatSwap) make(seed uint64) (env.Agent, error) {
	p := &player{from: w}
	p.NewGame(seed)
	return p, p.err
}

// A player is the agent of such a seat in one game.
type player struct {
	from  *seatSwap
	made  *vec.AgentFactory
	agent env.Agent
	err   error // why there is no agent
}

// Act implements env.Agent.
func (p *player) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if p.err != nil {
		return env.None, p.err
	}
	return p.agent.Act(ctx, s, seat)
}

// NewGame prepares the player for the next game. It keeps the agent if the agent supports that and has
// not been replaced.
func (p *player) NewGame(seed uint64) {
	now := p.from.now.Load()
	if again, ok := p.agent.(interface{ NewGame(uint64) }); ok && now == p.made {
		again.NewGame(seed)
		return
	}
	if p.err = p.Close(); p.err == nil {
		p.made = now
		p.agent, p.err = (*now)(seed)
	}
}

// Close implements io.Closer.
func (p *player) Close() error {
	c, ok := p.agent.(io.Closer)
	p.agent = nil
	if !ok {
		return nil
	}
	return c.Close()
}

// seat sets the agents of c to those that opponents names.
func (s *Server) seat(g *env.Game, c *vec.Config, opponents map[int64]string) ([]*seatSwap, error) {
	swaps := make([]*seatSwap, c.Seats)
	if len(opponents) == 0 {
		return swaps, nil
	}
	if len(opponents) >= c.Seats {
		return nil, wire.Errorf(wire.BadParams, "open: opponents has %d of %d seats: leave at least one to the client", len(opponents), c.Seats)
	}
	c.Agents = make([]vec.AgentFactory, c.Seats)
	for seat, text := range opponents {
		if seat < 0 || seat >= int64(c.Seats) {
			return nil, wire.Errorf(wire.BadParams, "open: opponents names seat %d, want 0 to %d", seat, c.Seats-1)
		}
		factory, err := s.player(g, text)
		if err != nil {
			return nil, err
		}
		swaps[seat] = &seatSwap{}
		swaps[seat].now.Store(&factory)
		c.Agents[seat] = swaps[seat].make
	}
	return swaps, nil
}

func (s *Server) player(g *env.Game, text string) (vec.AgentFactory, error) {
	if s.c.Agents == nil {
		return nil, wire.Errorf(wire.BadParams, "this server has no agents: leave out opponents and policy")
	}
	factory, err := s.c.Agents(g, text)
	if err != nil {
		return nil, wire.Errorf(wire.BadParams, "opponent %.64q: %v", text, err)
	}
	return factory, nil
}

func (s *session) setOpponent(f *wire.Frame) error {
	h, err := s.handle(f)
	if err != nil {
		return err
	}
	seat, err := f.Int(1, "seat", 0, int64(len(h.swaps)-1))
	if err != nil {
		return err
	}
	text, err := f.Str(2, "spec")
	if err != nil {
		return err
	}
	if h.swaps[seat] == nil {
		return wire.Errorf(wire.BadParams, "set_opponent: seat %d is played by the client", seat)
	}
	factory, err := s.srv.player(h.game, text)
	if err != nil {
		return err
	}
	h.swaps[seat].now.Store(&factory)
	return s.reply(f.ID, true)
}
