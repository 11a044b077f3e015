// Package ladder rates any number of agents by a round robin, which this process plays: every two agents meet.
//
// It plays units. In a game of two seats, a unit is a pair of games between two players, with the same seed and the
// seats swapped; in a game of one seat, it is a game of one player alone, and two players are compared by their scores
// with the same seed. Units come round by round, so that a ladder that is stopped has played every two players
// equally often, give or take one unit.
//
// Every finished unit is a line of the journal. A ladder that was stopped, also by kill -9, continues after the last
// one, and ends with the same result for any number of workers.
package ladder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
	"blockyard/env"
)

// A Ladder is a round robin. Units, Workers and Progress may change when it goes on, the other settings must not.
type Ladder struct {
	Rules   *env.Game
	Players []match.Player // at least two
	Units   int            // of every two players, or of every player in a game of one seat; at least 1
	Seed    uint64         // of the whole ladder
	Cap     int            // in a game of one seat: score at which a game is stopped; 0 for no limit
	Steps   int            // in a game of one seat: actions after which a game is stopped; 0 for no limit
	Workers int            // units played at once; below 1 counts as 1

	Progress func(games int, text string) // called after every unit with the number of games so far; may be nil

	played []Unit
}

// A Unit is a finished unit: a line of the journal.
type Unit struct {
	A      int `json:"a"`           // player
	B      int `json:"b,omitempty"` // the other player; never 0 in a game of two seats
	Round  int `json:"round"`
	Wins   int `json:"wins,omitempty"` // of A
	Draws  int `json:"draws,omitempty"`
	Losses int `json:"losses,omitempty"`
	Score  int `json:"score,omitempty"` // of A in a game of one seat
}

// alone reports whether the game has one seat.
func (l *Ladder) alone() bool { return l.Rules.MaxSeats == 1 }

// check returns an error if there is no such ladder.
func (l *Ladder) check() error {
	switch {
	case len(l.Players) < 2:
		return fmt.Errorf("a ladder of %d players, want at least two", len(l.Players))
	case l.Units < 1:
		return fmt.Errorf("%d units for every two players, want at least 1", l.Units)
	case l.Rules.MinSeats > 2:
		return fmt.Errorf("%s has no game of two seats", l.Rules.Name)
	case !l.alone() && (l.Cap != 0 || l.Steps != 0):
		return fmt.Errorf("cap and steps are for games of one seat, %s has more", l.Rules.Name)
	}
	return nil
}

// round lists the units of a round, without results.
func (l *Ladder) round() (all []Unit) {
	for a := range l.Players {
		if l.alone() {
			all = append(all, Unit{A: a})
			continue
		}
		for b := a + 1; b < len(l.Players); b++ {
			all = append(all, Unit{A: a, B: b})
		}
	}
	return all
}

// unit returns the unit at a position of the order, without a result.
func (l *Ladder) unit(at int) Unit {
	round := l.round()
	u := round[at%len(round)]
	u.Round = at / len(round)
	return u
}

// each is the number of units of a round.
func (l *Ladder) each() int { return len(l.round()) }

// Expected is the number of games of the whole ladder.
func (l *Ladder) Expected() int { return l.games(l.Units * l.each()) }

// games is the number of games of some units.
func (l *Ladder) games(units int) int {
	if l.alone() {
		return units
	}
	return 2 * units
}

// Play plays the units that the journal lacks and adds them to it. If ctx ends, it returns no error.
func (l *Ladder) Play(ctx context.Context, j *Journal) error {
	l.played = j.units
	first := len(l.played)
	l.show()
	work := func(ctx context.Context, i int) (Unit, error) { return l.play(ctx, l.unit(first+i)) }
	for u, err := range match.InOrder(ctx, l.Workers, max(0, l.Units*l.each()-first), work) {
		if err == nil {
			err = j.add(u)
		}
		if err != nil {
			return err
		}
		l.played = j.units
		l.show()
	}
	return nil
}

// play plays a unit.
func (l *Ladder) play(ctx context.Context, u Unit) (Unit, error) {
	m := match.Match{Rules: l.Rules, A: l.Players[u.A], Units: 1, Seed: env.Derive(l.Seed, uint64(u.Round))}
	if l.alone() {
		m.Cap, m.Steps = l.Cap, l.Steps
		r, err := m.SinglePlayer(ctx)
		if err == nil && r.Games == 0 {
			err = ctx.Err()
		}
		if err == nil {
			u.Score = r.Runs[0][0].Score
		}
		return u, err
	}
	m.B = l.Players[u.B]
	r, err := m.TwoPlayer(ctx)
	if err == nil && r.Games < 2 {
		err = ctx.Err()
	}
	u.Wins, u.Draws, u.Losses = r.Wins, r.Draws, r.Losses
	return u, err
}

// show calls Progress.
func (l *Ladder) show() {
	if l.Progress != nil {
		l.Progress(l.games(len(l.played)), fmt.Sprintf("round %d of %d", min(len(l.played)/l.each()+1, l.Units), l.Units))
	}
}

// The files in the folder of a ladder.
const (
	JournalFile = "journal.jsonl" // the settings, then a line per finished unit
	ReportFile  = "ladder.json"
	PictureFile = "ladder.svg"
)

// A head is the first line of a journal: what must not change when the ladder goes on.
type head struct {
	Game    string   `json:"game"`
	Rules   int      `json:"rules"`
	Players []string `json:"players"`
	Specs   []string `json:"specs,omitempty"` // of players that have names of the user's
	Seed    uint64   `json:"seed,string"`
	Cap     int      `json:"cap,omitempty"`
	Steps   int      `json:"steps,omitempty"`
}

// A Journal keeps the finished units of a ladder on the disk.
type Journal struct {
	*disk.Journal
	units []Unit
}

// Open opens the journal of a ladder in a folder, or creates it. One that exists must be of a ladder with the same
// game, players, seed and limits. The caller must Close it;
// until then no other process can open it.
func (l *Ladder) Open(dir string) (*Journal, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	j := new(Journal)
	lines, err := disk.OpenJournal(filepath.Join(dir, JournalFile), func(n int, line []byte) error {
		if n == 0 {
			return l.compare(line)
		}
		u, want := Unit{}, l.unit(n-1)
		if err := json.Unmarshal(line, &u); err != nil {
			return err
		}
		if u.A != want.A || u.B != want.B || u.Round != want.Round || !u.whole(l.alone()) {
			return fmt.Errorf("not unit %d of the ladder: %.100q", n-1, line)
		}
		j.units = append(j.units, u)
		return nil
	})
	if errors.Is(err, disk.ErrHeld) {
		return nil, fmt.Errorf("another process plays the ladder in %s: wait for it or choose another folder (%w)", dir, err)
	}
	if err != nil {
		return nil, err
	}
	if j.Journal = lines; lines.Lines() == 0 {
		if err := lines.Append(l.head()); err != nil {
			return nil, errors.Join(err, lines.Close())
		}
	}
	return j, nil
}

// compare returns an error unless a head is that of this ladder.
func (l *Ladder) compare(line []byte) error {
	var was head
	if err := json.Unmarshal(line, &was); err != nil {
		return fmt.Errorf("not the settings of a ladder: %w", err)
	}
	if !reflect.DeepEqual(was, l.head()) {
		return fmt.Errorf("of another ladder, %s with seed %d between %q: name another folder (--out), "+
			"or give the same game, players, seed and limits", was.Game, was.Seed, was.Players)
	}
	return nil
}

// whole reports whether the unit has the results of a pair of games, or of a game alone.
func (u Unit) whole(alone bool) bool {
	if alone {
		return u.Wins == 0 && u.Draws == 0 && u.Losses == 0
	}
	return min(u.Wins, u.Draws, u.Losses) >= 0 && u.Wins+u.Draws+u.Losses == 2
}

func (l *Ladder) head() head {
	h := head{Game: l.Rules.Name, Rules: l.Rules.Rules, Seed: l.Seed, Cap: l.Cap, Steps: l.Steps}
	for _, p := range l.Players {
		h.Players = append(h.Players, p.Name)
		if p.Spec != "" {
			h.Specs = append(h.Specs, p.Spec)
		}
	}
	return h
}

// add appends a finished unit and returns when it is on the disk.
func (j *Journal) add(u Unit) error {
	j.units = append(j.units, u)
	return j.Append(u)
}
