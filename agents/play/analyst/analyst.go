// Package analyst analyses recorded games. For each seat that had to choose in a position, it lists the best actions by
// the search of an agent, with their values, and says what the action that was played has lost against the best one.
// Commands print this, and the pages of records and of play in a browser show it.
package analyst

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
	"blockyard/env/games"
)

// An Analyst is an analysis.Analyst. Its zero value is ready for use.
type Analyst struct {
	Moves int    // how many of the best moves a Seat lists; 0 means 5
	First string // the agent that the user names, which Agents lists first; may be empty

	one     sync.Mutex // one analysis at a time
	mu      sync.Mutex // of the fields below
	rankers map[string]*bots.Ranker
}

var _ analysis.Analyst = (*Analyst)(nil)

const maxRankers = 16

// Agents implements analysis.Analyst. The default is the trained network, or the baseline if none is shipped.
func (a *Analyst) Agents(game string) (names []string) {
	g, err := games.Lookup(game)
	if err != nil {
		return nil
	}
	first, _ := bots.Alias(a.First)
	for _, name := range []string{first, "learned", "hand"} {
		if name == "" || slices.Contains(names, name) {
			continue
		}
		if _, err := a.ranker(g, name); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// ranker returns what values actions as the agent of a spec does. Only First is text of the user; a page asks for any.
func (a *Analyst) ranker(g *env.Game, spec string) (*bots.Ranker, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := g.Name + " " + spec
	if r := a.rankers[key]; r != nil {
		return r, nil
	}
	text := bots.Foreign(spec, nil)
	if first, _ := bots.Alias(a.First); spec == first {
		text = bots.Own(a.First)
	}
	r, err := bots.NewRanker(g, text)
	if err != nil {
		return nil, err
	}
	if len(a.rankers) >= maxRankers || a.rankers == nil {
		a.rankers = map[string]*bots.Ranker{}
	}
	a.rankers[key] = r
	return r, nil
}

// Analyse implements analysis.Analyst. It plays the record up to the position and searches there; one position at a
// time.
func (a *Analyst) Analyse(ctx context.Context, r analysis.Request) (*analysis.Position, error) {
	g, err := games.Recorded(r.Record.Game, r.Record.Table)
	if err != nil {
		return nil, err
	}
	first, _ := bots.Alias(a.First)
	spec := cmp.Or(r.Agent, first)
	if spec == "" { // the error of hand says why no agent of the game gives values
		spec = slices.Concat(a.Agents(g.Name), []string{"hand"})[0]
	}
	a.one.Lock()
	defer a.one.Unlock()
	ranker, err := a.ranker(g, spec)
	if err != nil {
		return nil, err
	}
	out := &analysis.Position{Game: g.Name, Turn: r.Turn, Agent: spec, Unit: ranker.Unit, Seats: []analysis.Seat{}}
	if ranker.Odds {
		out.Unit = "chance of winning"
	}
	for set := r.State.Acting(); set != 0; set = set.Rest() {
		d := decision{game: g, ranker: ranker, state: r.State, seat: set.First(), turn: r.Turn, seed: r.Record.Seed}
		seat, err := d.analyse(ctx, r.Moves[d.seat], cmp.Or(a.Moves, 5))
		if err != nil {
			return nil, fmt.Errorf("turn %d, seat %d: %w", r.Turn, d.seat+1, err)
		}
		seat.Player = r.Record.Agents[d.seat]
		out.Seats = append(out.Seats, seat)
	}
	return out, nil
}

// A decision is one seat's choice in a position.
type decision struct {
	game   *env.Game
	ranker *bots.Ranker
	state  env.State
	seat   int
	turn   int
	seed   uint64
	best   float32
}

// view is a copy of the position without what the seat does not know. It is the same every time.
func (d *decision) view() env.State {
	v := d.game.New(d.state.SeatCount())
	env.View(v, d.state, d.seat, env.Derive(d.seed, uint64(d.turn)))
	return v
}

func (d *decision) analyse(ctx context.Context, played env.Action, most int) (analysis.Seat, error) {
	out := analysis.Seat{Seat: d.seat, Legal: len(d.state.Legal(d.seat, nil)), Moves: []analysis.Move{}}
	list, err := d.ranker.Rank(ctx, d.view(), d.seat, played)
	if err != nil {
		return out, err
	}
	out.Ranked = len(list)
	slices.SortStableFunc(list, func(x, y entry.Choice) int {
		return cmp.Or(cmp.Compare(y.Value, x.Value), cmp.Compare(x.Action, y.Action))
	})
	if len(list) > 0 {
		d.best = list[0].Value
	} else {
		out.Note = "no action has a value: the game is about to end"
	}
	for i, c := range list {
		if i >= most && c.Action != played {
			continue
		}
		m, err := d.move(ctx, i+1, c)
		if err != nil {
			return out, err
		}
		if i < most {
			out.Moves = append(out.Moves, m)
		}
		if c.Action == played {
			out.Played = &m
		}
	}
	switch {
	case out.Played != nil:
	case played == env.None && out.Note == "":
		out.Note = "no action was played here, or the record ends here"
	case played != env.None:
		out.Played = &analysis.Move{Action: played, Text: d.game.Text(played), Line: []analysis.Ply{}}
		out.Note = "the search gives no value to the action played"
	}
	return out, nil
}

func (d *decision) move(ctx context.Context, rank int, c entry.Choice) (analysis.Move, error) {
	m := analysis.Move{
		Rank: rank, Action: c.Action, Text: d.game.Text(c.Action), Value: d.value(c.Value), Line: []analysis.Ply{},
		Loss: d.value(d.best) - d.value(c.Value), Worth: d.worth(c.Value), Lost: d.lost(c.Value),
	}
	if rank == 1 {
		m.Lost = ""
	}
	line, err := d.ranker.Line(ctx, d.view(), d.seat, c.Action)
	for _, p := range line {
		m.Line = append(m.Line, analysis.Ply{Seat: p.Seat, Action: p.Action, Text: d.game.Text(p.Action)})
	}
	return m, err
}

// value is a value of the search as analysis.Move has it: log odds become chances.
func (d *decision) value(v float32) float64 {
	x := float64(v)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0): // JSON has no such numbers
		return 0
	case d.ranker.Odds:
		return search.Chance(v)
	}
	return x
}

// decided reports whether v is a game that is over within the search: in how many plies, and for whom.
func decided(v float32) (plies int, won, ok bool) {
	switch {
	case v > search.Win-search.Far:
		return int(search.Win - v), true, true
	case v < -search.Win+search.Far:
		return int(search.Win + v), false, true
	}
	return 0, false, false
}

func (d *decision) worth(v float32) string {
	if plies, won, ok := decided(v); ok {
		end, unit := "loses", "plies"
		switch {
		case d.game.MaxSeats == 1:
			end = "ends the game"
		case won:
			end = "wins"
		}
		if plies == 1 {
			unit = "ply"
		}
		return fmt.Sprintf("%s in %d %s", end, plies, unit)
	}
	if d.ranker.Odds {
		return fmt.Sprintf("wins %.1f %%", 100*search.Chance(v))
	}
	return signed(v)
}

func (d *decision) lost(v float32) string {
	_, bestWins, bestEnds := decided(d.best)
	_, wins, ends := decided(v)
	switch {
	case v == d.best:
		return ""
	case bestEnds && bestWins && !(ends && wins):
		return "misses a win"
	case ends && !wins && !bestEnds:
		if d.game.MaxSeats == 1 {
			return "ends the game"
		}
		return "loses the game"
	case bestEnds || ends:
		return fmt.Sprintf("%.0f plies", math.Abs(float64(d.best-v)))
	case d.ranker.Odds:
		return fmt.Sprintf("-%.1f %%", 100*(search.Chance(d.best)-search.Chance(v)))
	}
	return signed(v - d.best)
}

// signed is a number with its sign and three significant digits or more.
func signed(v float32) string {
	digits := 0
	for _, limit := range []float64{1000, 10, 1} {
		if math.Abs(float64(v)) < limit {
			digits++
		}
	}
	return fmt.Sprintf("%+.*f", digits, v)
}

// At analyses turn n of a game. agent is a spec, or empty for the default.
func (a *Analyst) At(ctx context.Context, r *playback.Timeline, n int, agent string) (*analysis.Position, error) {
	r.Seek(n)
	return a.Analyse(ctx, analysis.Request{Record: r.Rec, Turn: r.At(), State: r.State(), Moves: r.Moves(), Agent: agent})
}

// Game analyses every turn of a game, and calls done with their number. If ctx ends, it covers the turns before.
func (a *Analyst) Game(ctx context.Context, r *playback.Timeline, agent string, done func(int)) (
	*analysis.Game, error) {
	out := &analysis.Game{Game: r.Rec.Game, Players: []analysis.Player{}, Decisions: []analysis.Decision{}}
	for seat, name := range r.Rec.Agents {
		out.Players = append(out.Players, analysis.Player{Seat: seat, Player: name})
	}
	valued := make([]int, len(out.Players)) // decisions whose losses have a mean
	for n := range r.Len() {
		p, err := a.At(ctx, r, n, agent)
		if ctx.Err() != nil && (err == nil || match.Stopped(err)) {
			out.Stopped = true
			break
		}
		if err != nil {
			return nil, err
		}
		out.Agent, out.Unit, out.Turns = p.Agent, p.Unit, n+1
		for _, s := range p.Seats {
			m := s.Played
			if m == nil || m.Rank == 0 {
				continue
			}
			best := s.Moves[0]
			out.Decisions = append(out.Decisions, analysis.Decision{
				Turn: n, Seat: s.Seat, Player: s.Player, Legal: s.Legal, Rank: m.Rank, Played: m.Text, Best: best.Text,
				Value: m.Value, Loss: m.Loss, Worth: m.Worth, Lost: m.Lost,
			})
			who := &out.Players[s.Seat]
			who.Decisions++
			if m.Loss == 0 {
				who.Best++
			}
			const limit = float64(search.Limit) // beyond it is the end of a game, which no mean can hold
			if max(m.Value, best.Value) <= limit && min(m.Value, best.Value) >= -limit {
				valued[s.Seat]++
				who.MeanLoss += m.Loss
			}
		}
		done(n + 1)
	}
	for seat, n := range valued {
		out.Players[seat].MeanLoss /= float64(max(n, 1))
	}
	return out, nil
}
