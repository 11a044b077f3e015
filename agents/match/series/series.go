// Package series plays a contest: games between the same programs, in which they change seats. It keeps logs and
// records and reports the result.
//
// A Series knows no contest: a match.Runner plays its games. Lines is that of contests between programs that talk in
// lines, Rounds that of a contest whose programs are started for every turn. Package tournament has its games played by
// them too.
package series

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env"
)

// A Series is a list of games between the same players, several at a time, which are counted in the order of the list.
type Series struct {
	Rules    *env.Game
	Seed     string            // of the whole series
	Settings map[string]string // that limit the games, for the report
	Names    []string          // of the players
	Games    []match.Played    // to play: their numbers, units, seeds and seats
	Workers  int               // games at the same time
	Runner   match.Runner
	Record   *record.Writer  // gets every game, an unfinished one included; may be nil
	Done     func(games int) // called after every game

	played []match.Played
}

// Seatings lists the seatings of n players in games of one seed: each player in each seat once, or all orders.
func Seatings(n int, all bool) (out [][]int) {
	if !all {
		for shift := range n {
			order := make([]int, n)
			for seat := range order {
				order[seat] = (seat + shift) % n
			}
			out = append(out, order)
		}
		return out
	}
	if n == 0 {
		return [][]int{{}}
	}
	for _, shorter := range Seatings(n-1, true) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return out
}

// Seated returns games with these seatings in turn. Games with the same seed follow each other, one for each seating,
// unless every game has a new seed.
func Seated(games int, seatings [][]int, seed uint64, newSeeds bool) (out []match.Played) {
	for i := range games {
		unit := i / len(seatings)
		from := uint64(unit)
		if newSeeds {
			from = uint64(i)
		}
		out = append(out, match.Played{Number: i, Unit: unit, Seats: seatings[i%len(seatings)],
			Seed: strconv.FormatUint(env.Derive(seed, from), 10)})
	}
	return out
}

// Alone returns games in which every player plays every seed alone.
func Alone(players int, seeds []string) (out []match.Played) {
	for unit, seed := range seeds {
		for p := range players {
			out = append(out, match.Played{Number: len(out), Unit: unit, Seed: seed, Seats: []int{p}})
		}
	}
	return out
}

// Play plays the games and returns how many are in Record. If ctx ends, there is no error, and a report on fewer games.
func (s *Series) Play(ctx context.Context) (kept int, err error) {
	next := func() []match.Played { return s.Games[len(s.played):] }
	err = match.Run(ctx, s.Workers, s.Runner, next, func(g *match.Played, rec *record.Record, err error) error {
		if rec != nil && s.Record != nil {
			var why error
			if err == nil {
				why = match.Prove(s.Rules, rec, g.Points, g.Ranks, func(int, int) bool { return true })
			} else { // as far as it was played
				why = record.Check(s.Rules, rec)
			}
			if why != nil {
				g.Void = why.Error()
			} else if e := s.Record.Write(rec); e != nil {
				return errors.Join(err, e)
			} else {
				kept++
			}
		}
		if err != nil {
			return err
		}
		if rec != nil && g.Void == "" && s.Rules.MaxSeats > 1 {
			g.Print = match.Fingerprint(s.Rules, rec)
		}
		s.played = append(s.played, *g)
		s.Done(len(s.played))
		return nil
	})
	return kept, match.IgnoreStop(ctx, err)
}

// Report returns the report of the games that were played so far; games without a valid result are left out. Seatings
// that repeat others move for move count once, except for who has won the match.
func (s *Series) Report() *match.Report {
	match.MarkRepeats(s.played)
	r := match.ReportOf(s.Rules, s.Seed, s.Names, s.played)
	r.Settings = s.Settings
	r.Stopped, r.Played = len(s.played) < len(s.Games), []match.Played{}
	distinct := map[match.Print]bool{}
	for _, g := range s.played {
		if g.Void == "" {
			r.Played = append(r.Played, g)
			distinct[g.Print] = true
		}
	}
	delete(distinct, "") // of games of one seat
	if r.Distinct = len(distinct); len(r.Players) == 2 && s.Rules.MaxSeats > 1 {
		r.Winner = winner(r)
	}
	return r
}

// winner is the letter of the player that won a match of two, by all games and then by the time left, or none.
func winner(r *match.Report) string {
	a, b, lead := r.Players[0].Program, r.Players[1].Program, 0
	for _, g := range r.Played {
		lead += cmp.Compare(g.Ranks[slices.Index(g.Seats, 1)], g.Ranks[slices.Index(g.Seats, 0)])
	}
	if lead == 0 && a != nil && a.LeftS != nil {
		lead = cmp.Compare(*a.LeftS, *b.LeftS)
	}
	return [...]string{"B", "none", "A"}[1+cmp.Compare(lead, 0)]
}
