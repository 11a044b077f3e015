// Package match lets agents play each other: one game into a record, and many games as a
// table of pairs that says how much stronger one is than the other and how sure that is.
package match

import (
	"context"
	"errors"
	"fmt"
	"math"

	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
)

// A Game is a match of one game: a seed and who sits where.
type Game struct {
	Rules  *env.Game
	Seed   uint64
	Names  []string    // of the agents, one per seat, for the record
	Agents []env.Agent // one per seat
	// Watch, if set, is called before every step with the position, which it must not
	// change or keep, and the joint move to be played, and after the last step with
	// env.NoMoves. An error ends the game with that error.
	Watch func(s env.State, m env.Moves) error
	// Enough, if set, is asked before every step; the game stops there once it says yes.
	Enough func(s env.State) bool
}

// viewStream separates the seeds of the hidden copies from those of everything else that
// follows from a game's seed.
const viewStream = 0x76696577

// Play plays g to its end. An agent sees nothing but its own hidden copy of each
// position, which depends on the seed, the ply and the seat alone. The error is an
// agent's, names it and its seat, and may be that of ctx; the record then holds the game
// so far, Stopped. Agents that implement io.Closer are not closed here.
func Play(ctx context.Context, g Game) (*record.Record, error) {
	p, err := start(g)
	if err != nil {
		return nil, err
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
	if !p.told {
		p.rec.Values = nil
	}
	return p.rec, err
}

// A play is a game in progress.
type play struct {
	Game
	rec   *record.Record
	state env.State
	view  env.State
	legal []env.Action
	steps uint64
	told  bool // some agent reported what its search thought
}

func start(g Game) (*play, error) {
	n := len(g.Agents)
	if n < g.Rules.MinSeats || n > g.Rules.MaxSeats {
		return nil, fmt.Errorf("%s: %d agents, want %d to %d", g.Rules.Name, n, g.Rules.MinSeats, g.Rules.MaxSeats)
	}
	if len(g.Names) != n {
		return nil, fmt.Errorf("%s: %d names for %d agents", g.Rules.Name, len(g.Names), n)
	}
	p := &play{
		Game: g, rec: record.New(g.Rules, g.Seed, g.Names),
		state: g.Rules.New(n), view: g.Rules.New(n),
	}
	p.state.Reset(g.Seed)
	return p, nil
}

// step asks the acting seats and plays their joint move. Nothing is played after an error.
func (p *play) step(ctx context.Context, acting env.Seats) error {
	m := env.NoMoves
	var values [env.MaxSeats]float32
	for set := acting; set != 0; set = set.Rest() {
		seat := set.First()
		a, err := p.ask(ctx, seat)
		if err != nil {
			return fmt.Errorf("%s: seat %d (%s): step %d: %w", p.Rules.Name, seat, p.Names[seat], p.steps, err)
		}
		m[seat], values[seat] = a, p.thought(seat)
	}
	if p.Watch != nil {
		if err := p.Watch(p.state, m); err != nil {
			return err
		}
	}
	p.rec.Add(acting, m)
	for set := acting; set != 0; set = set.Rest() {
		p.rec.Values = append(p.rec.Values, values[set.First()])
	}
	p.state.Step(m)
	p.steps++
	return nil
}

// ask lets the agent of seat choose, and checks the choice.
func (p *play) ask(ctx context.Context, seat int) (env.Action, error) {
	if err := ctx.Err(); err != nil {
		return env.None, err
	}
	env.View(p.view, p.state, seat, env.Derive(p.Seed^viewStream, p.steps*env.MaxSeats+uint64(seat)))
	a, err := p.Agents[seat].Act(ctx, p.view, seat)
	if err == nil {
		err = ctx.Err() // a choice cut short by the caller is not the agent's own
	}
	if err != nil {
		return env.None, err
	}
	if a == env.None {
		return a, nil
	}
	p.legal = p.state.Legal(seat, p.legal[:0])
	for _, l := range p.legal {
		if l == a {
			return a, nil
		}
	}
	if int(a) < p.Rules.Actions {
		return a, fmt.Errorf("%w: %s", env.ErrIllegal, p.Rules.Text(a))
	}
	return a, fmt.Errorf("%w: %d, of %d actions", env.ErrIllegal, a, p.Rules.Actions)
}

// thought is what the agent of seat made of its last choice, 0 if it does not tell.
func (p *play) thought(seat int) float32 {
	r, ok := p.Agents[seat].(search.Reporter)
	if !ok {
		return 0
	}
	v := r.Value()
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return 0
	}
	p.told = true
	return v
}

// Stopped reports whether err is only that the caller's context ended.
func Stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
