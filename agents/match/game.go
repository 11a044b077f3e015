package match

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/datasets/record/playback"
	"blockyard/env"
)

// A Game is one game to play: its rules, its seed and the agent of every seat.
type Game struct {
	Rules  *env.Game
	Seed   uint64
	Names  []string    // one per seat, for the record
	Agents []env.Agent // one per seat
	Start  []byte      // the first position, as env.Encode writes it; nil for that of Reset(Seed)
	// Watch, if set, is called before every step with the position, which it must not change or keep, and the joint
	// move to be played. After the last step it is called with env.NoMoves. An error ends the game with that error.
	Watch func(s env.State, m env.Moves) error
	// Enough, if set, is called before every step; if it returns true, the game stops.
	Enough func(s env.State) bool
	// Brief leaves choices and values out of the record, so that a game of any length takes the same memory.
	Brief bool
}

// Streams separate the seeds of the agents' hidden copies, and of Draws, from others that follow from a game's seed.
const (
	viewStream = 0x76696577
	drawStream = 0x64726177
)

// A Clairvoyant is an agent that Play tells before every action what is hidden from its seat, to measure what knowing
// that is worth. In a game with one, the draws follow from Draws, and are part of the record.
type Clairvoyant interface {
	env.Agent
	// Foresee is called before each Act, with what is true in that step.
	Foresee(t Truth)
}

// A Truth is what a Clairvoyant is told. It must not be changed.
type Truth struct {
	Draws *Draws    // of the game
	Step  int       // number of the present step
	Moves env.Moves // the actions in this step of the other seats, of those without a Clairvoyant
}

// Play plays g to its end. An agent sees only its own copy of each position, in which everything hidden from its seat
// is drawn anew (env.View); the copy depends only on the seed, the step and the seat. An error names the agent and
// its seat; it may be the error of ctx. The record then is the game so far, marked as stopped. Play Closes no agent.
func Play(ctx context.Context, g Game) (*record.Record, error) {
	n := len(g.Agents)
	switch {
	case n < g.Rules.MinSeats || n > g.Rules.MaxSeats:
		return nil, fmt.Errorf("%s: %d agents: want %d to %d", g.Rules.Name, n, g.Rules.MinSeats, g.Rules.MaxSeats)
	case len(g.Names) != n:
		return nil, fmt.Errorf("%s: %d names for %d agents", g.Rules.Name, len(g.Names), n)
	}
	p := &play{Game: g, rec: record.New(g.Rules, g.Seed, g.Names), state: g.Rules.New(n), view: g.Rules.New(n)}
	p.state.Reset(g.Seed)
	if slices.ContainsFunc(g.Agents, func(a env.Agent) bool { _, is := a.(Clairvoyant); return is }) {
		p.draws = &Draws{Seed: env.Derive(g.Seed^drawStream, 0)}
		p.rec.AddDraws(p.state)
	}
	var err error
	if p.rec.Start = g.Start; len(g.Start) > 0 {
		if err = env.Decode(p.state, p.view, g.Start); err != nil {
			return nil, err
		}
	}
	for acting := p.state.Acting(); acting != 0; acting = p.state.Acting() {
		if g.Enough != nil && g.Enough(p.state) {
			break
		}
		if err = p.step(ctx, acting); err != nil {
			break
		}
	}
	if err == nil && g.Watch != nil {
		err = g.Watch(p.state, env.NoMoves)
	}
	p.rec.End(p.state)
	if !p.reported {
		p.rec.Values = nil
	}
	return p.rec, err
}

// Seated returns the agents of one game, nil where there is no maker.
func Seated[F ~func(seed uint64) (env.Agent, error)](makers []F, names []string, seed uint64) ([]env.Agent, error) {
	out := make([]env.Agent, len(makers))
	for seat, f := range makers {
		if f == nil {
			continue
		}
		a, err := f(env.Derive(seed, uint64(seat)))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", names[seat], err), Close(out))
		}
		out[seat] = a
	}
	return out, nil
}

// Close closes those agents of a game that implement io.Closer; nil is none.
func Close(agents []env.Agent) (err error) {
	for _, a := range agents {
		if c, ok := a.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// A play is a game in progress.
type play struct {
	Game
	rec      *record.Record
	state    env.State
	view     env.State
	legal    []env.Action
	steps    uint64
	draws    *Draws // nil without a Clairvoyant
	reported bool   // an agent reported the value of its search
}

// step gets the actions of the acting seats and plays the joint move, if there is no error.
func (p *play) step(ctx context.Context, acting env.Seats) error {
	m := env.NoMoves
	var values [env.MaxSeats]float32
	for _, told := range []bool{false, true} { // a Clairvoyant is asked after the others
		others := m
		for set := acting; set != 0; set = set.Rest() {
			seat := set.First()
			c, is := p.Agents[seat].(Clairvoyant)
			if is != told {
				continue
			}
			if is {
				c.Foresee(Truth{p.draws, int(p.steps), others})
			}
			a, err := p.ask(ctx, seat)
			if err != nil {
				return fmt.Errorf("%s: seat %d (%s): step %d: %w", p.Rules.Name, seat+1, p.Names[seat], p.steps, err)
			}
			m[seat], values[seat] = a, p.value(seat)
		}
	}
	if p.Watch != nil {
		if err := p.Watch(p.state, m); err != nil {
			return err
		}
	}
	if !p.Brief {
		p.rec.Add(acting, m)
		for set := acting; set != 0; set = set.Rest() {
			p.rec.Values = append(p.rec.Values, values[set.First()])
		}
	}
	if p.draws != nil {
		p.draws.Step(p.Rules, p.state, m, int(p.steps))
		p.rec.AddDraws(p.state)
	} else {
		p.state.Step(m)
	}
	p.steps++
	return nil
}

// ask returns the action of the agent of seat, if it is legal.
func (p *play) ask(ctx context.Context, seat int) (env.Action, error) {
	if err := ctx.Err(); err != nil {
		return env.None, err
	}
	env.View(p.view, p.state, seat, env.Derive(p.Seed^viewStream, p.steps*env.MaxSeats+uint64(seat)))
	a, err := p.Agents[seat].Act(ctx, p.view, seat)
	if err == nil {
		err = ctx.Err() // an action found after the caller cancelled is not the agent's best
	}
	if err != nil || a == env.None {
		return env.None, err
	}
	p.legal = p.state.Legal(seat, p.legal[:0])
	switch {
	case slices.Contains(p.legal, a):
		return a, nil
	case int(a) < p.Rules.Actions:
		return a, fmt.Errorf("%w: %s", env.ErrIllegal, p.Rules.Text(a))
	}
	return a, fmt.Errorf("%w: %d, of %d actions", env.ErrIllegal, a, p.Rules.Actions)
}

// value is the value that the agent of seat reports for its last action, 0 if it reports none.
func (p *play) value(seat int) float32 {
	if r, ok := p.Agents[seat].(search.Reporter); ok {
		if v := r.Value(); !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) {
			p.reported = true
			return v
		}
	}
	return 0
}

// Stopped reports whether err only says that a context ended.
func Stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// IgnoreStop returns err, or nil if it only says that ctx has ended.
func IgnoreStop(ctx context.Context, err error) error {
	if ctx.Err() != nil && Stopped(err) {
		return nil
	}
	return err
}

// MaxBook is the largest number of recorded games whose positions a match can begin in.
const MaxBook = 100_000

// A Book is positions that games begin with, as env.Encode writes them. Agents that both play well from the first
// position share most pairs; positions of decided games, each played from every seat, tell them apart sooner.
type Book [][]byte

// ReadBook reads a file of recorded games of g with this number of seats. Each game yields the position after a share
// of its steps, 0 or more and below 1, or none if that is its last position.
func ReadBook(ctx context.Context, path string, g *env.Game, seats int, share float64) (b Book, err error) {
	if !(share >= 0 && share < 1) {
		return nil, fmt.Errorf("%g of a game's steps: want 0 or more, and less than 1", share)
	}
	in, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	in.Use(ctx)
	n := 0
	for rec, err := range in.All() {
		if n++; err == nil && n > MaxBook {
			err = fmt.Errorf("%s: more than %d games", path, MaxBook)
		}
		if err != nil {
			return nil, err
		}
		start, err := position(g, seats, rec, share)
		if err != nil {
			return nil, fmt.Errorf("%s: game %d: %w", path, n, err)
		}
		if start != nil {
			b = append(b, start)
		}
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%s: no game with a position to begin with", path)
	}
	return b, nil
}

// position encodes the position of a game after a share of its steps; nil if nobody acts there.
func position(g *env.Game, seats int, rec *record.Record, share float64) ([]byte, error) {
	if rec.Seats != seats {
		return nil, fmt.Errorf("%d seats, want %d", rec.Seats, seats)
	}
	line := playback.New(g, rec)
	line.Unfinished = true // how the game ends does not matter here
	line.Advance(time.Time{})
	if err := line.Err(); err != nil {
		return nil, err
	}
	line.Seek(int(share * float64(line.Len()-1)))
	if line.State().Acting() == 0 {
		return nil, nil
	}
	return env.Encode(nil, line.State())
}

// start is the first position of a unit, with the draws to come made from the unit's seed; nil without a book.
func (b Book) start(g *env.Game, seats, unit int, seed uint64) ([]byte, error) {
	if len(b) == 0 {
		return nil, nil
	}
	s := g.New(seats)
	if err := env.Decode(s, g.New(seats), b[unit%len(b)]); err != nil {
		return nil, err
	}
	s.Hide(1<<uint(seats)-1, seed)
	return env.Encode(nil, s)
}
