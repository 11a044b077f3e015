package matches

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env"
)

// A Shared is a match.Runner that lets workers play the games between agents. All others are played here: a program is
// contained and timed on this machine, and so is an agent whose moves depend on a clock.
type Shared struct {
	Here  match.Runner
	Agent func(number int) (p match.Player, ours bool) // a player with its spec; not ours is a program

	remote func(context.Context, match.Unit) ([]*record.Record, error)
	places chan struct{} // of games here
}

// MostShared is how many games of a Shared are under way at a time.
const MostShared = 64

// Share lets workers play games of g for s, and bounds how many are played here at once.
func (f *Flags) Share(ctx context.Context, s *Shared, g *env.Game, here int, out io.Writer, log *slog.Logger) (
	*fleet.Session, error) {
	m, known := &match.Match{Rules: g, Units: MostShared}, bots.Names(g)
	texts := slices.DeleteFunc([]string{"learned:ply=1", "hand:ply=1", "random", "first"}, func(text string) bool {
		name, _, _ := strings.Cut(text, ":")
		return !slices.Contains(known, name)
	})[:2] // for the self-test
	for _, text := range texts {
		f, err := bots.New(g, bots.Own(text))
		if err != nil {
			return nil, err
		}
		m.Players = append(m.Players, match.Player{Name: text, New: f})
	}
	started, err := f.Start(ctx, m, texts, out, log)
	s.remote, s.places = m.Remote, make(chan struct{}, here)
	return started, err
}

// Play implements match.Runner: by a worker if it can, and otherwise when there is a place for the game here.
func (s *Shared) Play(ctx context.Context, g *match.Played) (*record.Record, error) {
	seed, err := strconv.ParseUint(g.Seed, 10, 64)
	if err != nil {
		return nil, err
	}
	u, lineup := match.Unit{Index: g.Number, Seed: seed}, []match.Entrant{}
	for seat, number := range g.Seats {
		if p, ours := s.Agent(number); ours {
			u.Players = append(u.Players, p)
		}
		lineup = append(lineup, match.Entrant{Player: seat, Stream: uint64(2*(g.Number-g.Unit) + seat)})
	}
	if u.Games = append(u.Games, lineup); len(u.Players) == len(lineup) {
		records, err := s.remote(ctx, u)
		if err == nil {
			rec := records[0]
			g.Note(rec.Scores, rec.Results, len(rec.Choices), rec.Stopped)
			g.UsedMS, g.MostMS = make([]float64, len(lineup)), make([]float64, len(lineup)) // nothing is timed
			return rec, nil
		} else if !errors.Is(err, ErrHere) {
			return nil, err
		}
	}
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
		return s.Here.Play(ctx, g)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
