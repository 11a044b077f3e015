package webplay

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/record"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
)

// A Position is what the page shows of the game: the response to a GET, as JSON.
type Position struct {
	Version int           `json:"version"` // grows with every change
	Game    string        `json:"game"`
	Title   string        `json:"title"`
	Players []string      `json:"players"`
	Persons []int         `json:"persons"` // seats for which persons choose
	Seed    string        `json:"seed"`    // of the game
	Seat    int           `json:"seat"`    // that a person has to choose for, -1 if none
	Ticks   bool          `json:"ticks"`   // the game is played in real time, with keys
	Paused  bool          `json:"paused"`  // the clock waits for a key
	Frame   viewer.Frame  `json:"frame"`
	Moves   []viewer.Mark `json:"moves"`           // the legal actions of Seat
	Last    []viewer.Mark `json:"last"`            // what is left on the boards of each seat's last action
	Hints   []string      `json:"hints"`           // agents that can give hints, the default first
	File    string        `json:"file"`            // where the game is recorded
	Error   string        `json:"error,omitempty"` // why the game ended early
}

func (t *Table) begin(seed uint64, stop context.CancelFunc) {
	s := t.Rules.New(len(t.Names))
	s.Reset(seed)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chosen, t.keys = make(chan env.Action, 1), make(chan string, 8) // nothing of the last game counts
	t.stop, t.last, t.marks, t.turn = stop, env.NoMoves, viewer.LastMoves{}, 0
	t.painter.Colours, t.settled = playback.Paint{}, 0
	t.now = Position{
		Version: t.now.Version, Game: t.Rules.Name, Title: t.Rules.Title, Seed: strconv.FormatUint(seed, 10),
		Ticks: t.ticks(), Players: t.Names, Persons: []int{}, Hints: []string{}, File: t.File,
	}
	for set := t.Persons; set != 0; set = set.Rest() {
		t.now.Persons = append(t.now.Persons, set.First())
	}
	t.now.Hints = append(t.now.Hints, t.agents()...)
	t.set(s, -1)
}

// set changes the position; seat is that of the person who has to choose, or -1.
func (t *Table) set(s env.State, seat int) {
	if t.state == nil {
		t.state = t.Rules.New(len(t.Names))
	}
	t.settle(s)
	sees := max(seat, 0) // the person who has to choose, or else the first one
	if seat < 0 && t.Persons != 0 {
		sees = t.Persons.First()
	}
	env.View(t.state, s, sees, env.Derive(t.Seed, uint64(t.turn)))
	t.now.Seat, t.now.Moves = seat, nil
	choosing := seat >= 0 && !t.ticks()
	t.now.Frame = t.painter.Position(t.state, t.Names, t.turn, !choosing)
	if choosing {
		t.now.Moves = t.painter.Marks(t.Rules, t.state, seat)
	}
	t.marks.Follow(s)
	t.now.Last = t.marks.Marks()[:len(t.Names)]
	for k, a := range t.last[:len(t.Names)] {
		if a != env.None {
			t.now.Frame.Seats[k].Act, t.now.Frame.Seats[k].Answer = t.Rules.Text(a), t.answers[k]
		}
	}
	t.change()
}

// settle tells the painter once of the position that follows a joint move.
func (t *Table) settle(s env.State) {
	if t.settled != t.turn {
		t.painter.Colours.Settle(s)
		t.settled = t.turn
	}
}

func (t *Table) change() {
	t.now.Version++
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// show shows a position in which a person has to choose for a seat, or nobody for -1. paused is of the clock.
func (t *Table) show(s env.State, seat int, paused bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.Paused = paused
	t.set(s, seat)
	return nil
}

// watch keeps the actions that are played, and shows the last position; see match.Game.
func (t *Table) watch(s env.State, m env.Moves) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for set := s.Acting(); set != 0; set = set.Rest() {
		seat := set.First()
		if t.last[seat], t.answers[seat] = m[seat], ""; m[seat] != env.None {
			t.answers[seat] = viewer.Answer(s, seat, m[seat])
		}
	}
	t.settle(s)
	if s.Acting() != 0 {
		t.marks.Play(t.Rules, s, m)
		t.painter.Colours.Place(s, m)
		t.turn++
	} else {
		t.set(s, -1)
	}
	return nil
}

func (t *Table) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.Seat, t.now.Moves, t.now.Error = -1, nil, err.Error()
	t.change()
}

// after returns the position as soon as its version is not the one given, or when ctx is done.
func (t *Table) after(ctx context.Context, version int) Position {
	for {
		t.mu.Lock()
		now := t.now
		if now.Version != version && now.Version > 0 || ctx.Err() != nil { // version 0 is before the first game
			t.mu.Unlock()
			return now
		}
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// request is what the analyst needs to know of the position of that version, and who has to choose.
func (t *Table) request(version int) (r analysis.Request, seat int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case version != t.now.Version:
		return r, 0, errStale
	case t.now.Seat < 0:
		return r, 0, errEarly
	}
	s := t.Rules.New(len(t.Names))
	s.CopyFrom(t.state)
	rec := record.New(t.Rules, t.Seed, t.Names)
	return analysis.Request{Record: rec, Turn: t.turn, State: s, Moves: env.NoMoves}, t.now.Seat, nil
}

func (t *Table) agents() []string {
	if t.Analyst == nil || t.ticks() {
		return nil
	}
	return t.Analyst.Agents(t.Rules.Name)
}

const patience = 20 * time.Second

// These are the range of the versions of a position; -1 is that of a page that has shown none.
const firstVersion, lastVersion = -1, 1 << 40

// Answers returns the answers to all that the page of the table asks.
func (t *Table) Answers() ask.Answers {
	return ask.Answers{
		"GET /api/position": t.position,
		"GET /api/hints":    t.hints,
		"POST /api/choose":  obey(func(o order) error { return t.choose(o.Version, env.Action(o.Action)) }),
		"POST /api/key":     obey(func(o order) error { return t.press(o.Key) }),
		"POST /api/again":   obey(func(o order) error { return t.restart(o.Version) }),
	}
}

func (t *Table) position(ctx context.Context, r *ask.Request) ([]byte, error) {
	after := r.Number("after", firstVersion-1, firstVersion, lastVersion)
	if err := r.Err(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	return ask.JSON(t.after(ctx, after))
}

// An order is the body of a POST: the person's choice in the position with this version. An old version is refused.
type order struct {
	Version int    `json:"version"`
	Action  int    `json:"action"`
	Key     string `json:"key"`
}

// obey answers a POST: it gives the body to do. An order that comes too late is a conflict.
func obey(do func(order) error) func(context.Context, *ask.Request) ([]byte, error) {
	return func(_ context.Context, r *ask.Request) ([]byte, error) {
		var o order
		if err := json.Unmarshal(r.Body, &o); err != nil {
			return nil, ask.Bad("body: %w", err)
		}
		if o.Action < 0 || o.Action >= int(env.None) {
			return nil, ask.Bad("action %d: want 0 to %d", o.Action, env.None-1)
		}
		if err := do(o); err != nil {
			return nil, ask.Status(ask.Conflict, err)
		}
		return ask.JSON(struct{}{})
	}
}

func (t *Table) hints(ctx context.Context, r *ask.Request) ([]byte, error) {
	version := r.Number("version", firstVersion-1, firstVersion, lastVersion)
	if err := r.Err(); err != nil {
		return nil, err
	}
	agent := r.Get("agent")
	if agents := t.agents(); !slices.Contains(agents, agent) {
		return nil, ask.Bad("agent %.80q: want one of %q", agent, agents)
	}
	position, seat, err := t.request(version)
	if err != nil {
		return nil, ask.Status(ask.Conflict, err)
	}
	position.Agent = agent
	got, err := t.Analyst.Analyse(ctx, position)
	if err != nil {
		return nil, err
	}
	got.Seats = slices.DeleteFunc(got.Seats, func(s analysis.Seat) bool { return s.Seat != seat })
	return ask.JSON(got)
}
