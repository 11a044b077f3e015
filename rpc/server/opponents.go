package server

import (
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// seat sets the agents of c to those that opponents names.
func (s *Server) seat(g *env.Game, c *vec.Config, opponents map[int64]string) error {
	if n := len(opponents); n >= c.Seats {
		return wire.Errorf(wire.BadParams, "open: opponents has %d of %d seats: leave at least one to the client", n, c.Seats)
	}
	c.Agents = make([]vec.AgentFactory, c.Seats)
	for seat, text := range opponents {
		if seat < 0 || seat >= int64(c.Seats) {
			return wire.Errorf(wire.BadParams, "open: opponents names seat %d, want 0 to %d", seat, c.Seats-1)
		}
		var err error
		if c.Agents[seat], err = s.agent(g, text); err != nil {
			return err
		}
	}
	return nil
}

// agent parses the spec of an opponent or policy.
func (s *Server) agent(g *env.Game, text string) (vec.AgentFactory, error) {
	if s.c.Agents == nil {
		return nil, wire.Errorf(wire.BadParams, "this server has no agents: leave out opponents and policy")
	}
	factory, err := s.c.Agents(g, text)
	if err != nil {
		return nil, wire.Errorf(wire.BadParams, "opponent %.64q: %v", text, err)
	}
	return factory, nil
}

func (s *session) setOpponent(f *wire.Frame, h *handle) error {
	seat, err := f.Int(1, "seat", 0, int64(h.c.Seats-1))
	if err != nil {
		return err
	}
	text, err := f.Str(2, "spec")
	if err != nil {
		return err
	}
	if h.env.Driven().Has(int(seat)) {
		return wire.Errorf(wire.BadParams, "set_opponent: seat %d is played by the client", seat)
	}
	factory, err := s.srv.agent(h.game, text)
	if err != nil {
		return err
	}
	if err := h.env.SetAgent(int(seat), factory); err != nil {
		return err
	}
	return s.reply(f.ID, true)
}
