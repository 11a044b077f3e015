package server

import (
	"blockyard/agents/entry"
	"blockyard/agents/features"
	"blockyard/env"
	"blockyard/rpc/wire"
)

// featuresOf returns the features of g, or refuses the request.
func (s *Server) featuresOf(g *env.Game, method string) (*features.Set, error) {
	if s.c.Features != nil {
		if have := s.c.Features(g); have != nil {
			return have, nil
		}
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
		{Name: "game", Value: entry.Base(g)}, {Name: "rules", Value: g.Rules},
		{Name: "features", Value: have.Names}, {Name: "own", Value: have.Own},
	})
}

// afterFeatures are the features of the afterstates of some rows.
type afterFeatures struct {
	afters
	have    *features.Set
	readers []features.Reader // by worker
	rows    []float32
}

// features replies with the features of afterstates instead of their observations.
func (s *session) features(f *wire.Frame) error {
	h, err := s.handle(f)
	if err != nil {
		return err
	}
	have, err := s.srv.featuresOf(h.game, "features")
	if err != nil {
		return err
	}
	size := 4*len(have.Names) + 4 + 1 + 2
	h, sp, err := s.legalRowsParam(f, size)
	if err != nil {
		return err
	}
	h.asked++
	o := struct {
		Seed *uint64 `msgpack:"seed"`
	}{}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	a := afterFeatures{afters: afters{h: h, sp: sp, seed: env.Derive(uint64(h.id), h.asked)}, have: have}
	if o.Seed != nil {
		a.seed = *o.Seed
	}
	m := sp.total()
	release, err := s.srv.borrow(m*size + 4*len(sp.indptr))
	if err != nil {
		return err
	}
	defer release()
	a.actions, a.rows = make([]env.Action, m), make([]float32, m*len(have.Names))
	a.reward, a.done = make([]float32, m), make([]uint8, m)
	for range h.c.Workers {
		a.readers = append(a.readers, have.New())
	}
	if err := h.eachRow(&a.sp, a.read); err != nil {
		return refusal("features", err)
	}
	return s.reply(f.ID, wire.Fields{
		{Name: "count", Value: len(sp.games)}, {Name: "indptr", Value: bytesOf(sp.indptr)},
		{Name: "actions", Value: bytesOf(a.actions)},
		{Name: "features", Value: bytesOf(a.rows)}, {Name: "reward", Value: bytesOf(a.reward)}, {Name: "done", Value: a.done},
	})
}

// read plays the actions of row r of game i, row k of sp, as afters.row does.
func (a *afterFeatures) read(w, i, r, k int) {
	h, first, end := a.h, int(a.sp.indptr[k]), int(a.sp.indptr[k+1])
	if first == end {
		return
	}
	seat, view, after, reader := h.env.Seat(i, r), h.scratch[2*w], h.scratch[2*w+1], a.readers[w]
	h.env.Legal(i, r, a.actions[first:first:end])
	env.View(view, h.env.State(i), seat, h.drawSeed(a.seed, i, r))
	n, own, before := len(a.have.Names), a.have.Own, h.measure(view, seat)
	var shared []float32 // as the first afterstate that is not the end has them
	for m := first; m < end; m++ {
		after.CopyFrom(view)
		env.After(after, seat, a.actions[m])
		a.reward[m] = h.measure(after, seat) - before
		if after.Acting() == 0 {
			a.done[m] = 1 // and no features: nothing judges a finished game
			continue
		}
		row := a.rows[m*n : (m+1)*n]
		if shared == nil {
			shared = row[own:]
			reader.Shared(after, seat, shared)
		}
		copy(row[own:], shared)
		reader.Own(after, seat, row[:own])
	}
}
