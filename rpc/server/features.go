package server

import (
	"blockyard/agents/entry"
	"blockyard/agents/features"
	"blockyard/env"
	"blockyard/rpc/wire"
)

// featuresOf returns the features of g, or refuses the request.
func (s *Server) featuresOf(g *env.Game, method string) (*features.Set, error) {
	if have := s.c.Features(g); have != nil {
		return have, nil
	}
	return nil, wire.Errorf(wire.BadParams, "%s: %s defines no features", method, g.Name).With("game", g.Name)
}

// featureNames replies with what a file of weights for a game says in its metadata.
func (s *session) featureNames(f *wire.Frame) error {
	g, err := s.gameParam(f)
	if err != nil {
		return err
	}
	have, err := s.srv.featuresOf(g, "feature_names")
	if err != nil {
		return err
	}
	return s.reply(f.ID, wire.Fields{
		"game", entry.Base(g), "rules", g.Rules, "features", have.Names, "own", have.Own,
	})
}

// features replies with the features of afterstates instead of their observations. Those that end the
// game have none: they remain zeros.
func (s *session) features(f *wire.Frame, h *handle) error {
	have, err := s.srv.featuresOf(h.game, "features")
	if err != nil {
		return err
	}
	n := len(have.Names)
	a, release, err := s.newAfters(f, h, 4*n)
	if err != nil {
		return err
	}
	defer release()
	rows := make([]float32, len(a.actions)*n)
	var readers []features.Reader // by worker
	for range h.c.Workers {
		readers = append(readers, have.New())
	}
	err = a.each(func(after *afterstate) {
		if a.done[after.at] != 0 {
			return
		}
		row, reader := rows[after.at*n:(after.at+1)*n], readers[after.worker]
		if after.alike >= 0 {
			copy(row[have.Own:], rows[after.alike*n+have.Own:(after.alike+1)*n])
		} else {
			reader.Shared(after.State, after.seat, row[have.Own:])
		}
		reader.Own(after.State, after.seat, row[:have.Own])
	})
	if err != nil {
		return err
	}
	return s.reply(f.ID, a.fields("features", bytesOf(rows)))
}
