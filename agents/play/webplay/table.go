// Package webplay lets a person play in a web browser: any seats of any game of placements, against agents. A Table
// plays one game after the other, and a Server shows it on the stage of the replay page.
package webplay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"blockyard/agents/match"
	"blockyard/agents/play/human"
	"blockyard/datasets/record"
	"blockyard/datasets/viewer"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
)

// A Table plays games, one after the other, in which persons choose for some seats. Set the fields, and then call Run
// while a Server serves the page.
type Table struct {
	Rules   *env.Game
	Seed    uint64           // of the first game; each game after it has the next seed
	Names   []string         // player of every seat
	Persons env.Seats        // seats for which persons choose
	Analyst analysis.Analyst // gives the hints; nil if there are none
	File    string           // where Record keeps the games, to be named on the page; may be empty
	Speed   float64          // of the clock of wintetris:tick: 2 is twice as fast; 0 is 1

	// Agents returns an agent for every seat without a person, nil for the others. Those that implement io.Closer are
	// closed at the end of the game.
	Agents func(seed uint64) ([]env.Agent, error)
	// Record is called at the end of every game in which somebody has chosen; nil does nothing.
	Record func(*record.Record) error

	unsaved []*record.Record // games that Record has not kept yet

	mu      sync.Mutex
	now     Position
	state   env.State            // the position that is shown; nothing in it is hidden from who may see it
	changed chan struct{}        // closed when now changes; nil if nobody waits
	chosen  chan env.Action      // what a person chose
	keys    chan string          // what a person pressed in a game that is played by ticks
	again   chan struct{}        // a person asks for a new game
	stop    context.CancelFunc   // ends the game in progress
	last    env.Moves            // the last action of every seat
	answers [env.MaxSeats]string // last in the words of the contest
	marks   viewer.LastMoves     // where its cells are
	turn    int                  // number of joint moves played
	painter viewer.Painter
	settled int // the turn of which the painter knows the colours
}

// Run plays until ctx is done, which is no error.
func (t *Table) Run(ctx context.Context) error {
	t.mu.Lock()
	t.again = make(chan struct{}, 1)
	t.mu.Unlock()
	for seed := t.Seed; ctx.Err() == nil; seed++ {
		rec, err := t.play(ctx, seed)
		if rec != nil && len(rec.Choices) > 0 && t.Record != nil {
			t.unsaved = append(t.unsaved, rec)
		}
		if match.Stopped(err) {
			err = nil
		}
		if err = errors.Join(err, t.save()); err != nil {
			t.fail(err)
		}
		select {
		case <-ctx.Done():
		case <-t.again:
		}
	}
	return t.save()
}

// save records the games that are not recorded yet. Those that cannot be are tried again after the next game.
func (t *Table) save() error {
	for len(t.unsaved) > 0 {
		if err := t.Record(t.unsaved[0]); err != nil {
			return fmt.Errorf("not recorded yet, games: %d: %w", len(t.unsaved), err)
		}
		t.unsaved = t.unsaved[1:]
	}
	return nil
}

func (t *Table) play(ctx context.Context, seed uint64) (*record.Record, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	t.begin(seed, stop)
	agents, err := t.Agents(seed)
	defer match.Close(slices.Clone(agents))
	if err != nil {
		return nil, err
	}
	for seat := range agents {
		switch {
		case t.Persons.Has(seat) && t.ticks():
			agents[seat] = &human.Ticker{Next: t.key, Show: t.show, Speed: t.Speed, Wait: true}
		case t.Persons.Has(seat):
			agents[seat] = &person{t}
		default:
			agents[seat] = &opponent{agents[seat], t}
		}
	}
	return match.Play(ctx, match.Game{Rules: t.Rules, Seed: seed, Names: t.Names, Agents: agents, Watch: t.watch})
}

// A person is the env.Agent of the seats for which persons choose: it waits for a request of the page.
type person struct{ *Table }

func (p *person) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	_ = p.show(s, seat, false)
	select {
	case a := <-p.chosen:
		return a, nil
	case <-ctx.Done():
		return env.None, ctx.Err()
	}
}

// An opponent is an agent whose turns are shown while it thinks.
type opponent struct {
	env.Agent
	table *Table
}

func (o *opponent) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if s.Acting()&o.table.Persons == 0 {
		_ = o.table.show(s, -1, false)
	}
	return o.Agent.Act(ctx, s, seat)
}

func (t *Table) ticks() bool { return human.InRealTime(t.Rules) }

func (t *Table) key(ctx context.Context) (string, error) {
	select {
	case key := <-t.keys:
		return key, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// press takes a key; one that comes faster than the game reads them is lost.
func (t *Table) press(key string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now.Seat < 0 || !t.ticks() {
		return errEarly
	}
	select {
	case t.keys <- key:
	default:
	}
	return nil
}

// Errors of choices.
var (
	errStale = errors.New("the position has changed since: look again")
	errEarly = errors.New("no person has to choose now")
)

// choose plays an action in the position of that version.
func (t *Table) choose(version int, a env.Action) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case version != t.now.Version:
		return errStale
	case t.now.Seat < 0 || version == 0:
		return errEarly
	}
	if !slices.ContainsFunc(t.now.Moves, func(m viewer.Mark) bool { return m.Action == a }) {
		return fmt.Errorf("action %d is not legal in this position", a)
	}
	t.now.Seat, t.now.Moves = -1, nil
	t.change()
	t.chosen <- a // it has room for one, and this is the only one of the position
	return nil
}

// restart ends the game in progress, if it still is, and begins the next.
func (t *Table) restart(version int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if version != t.now.Version || version == 0 {
		return errStale
	}
	select {
	case t.again <- struct{}{}:
		t.now.Seat, t.now.Moves = -1, nil
		t.change()
		t.stop()
	default: // it begins already
	}
	return nil
}
