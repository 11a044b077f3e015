package tournament

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/programs"
	"blockyard/datasets/record"
)

// Dropblox is the contest of Dropblox: the entrants of a game play the same seed, one after the other, and the higher
// score wins. The record is that of the winner.
type Dropblox struct {
	Game dropblox.LocalGame // of every entrant and seed: its clock and its limit of turns
	Dir  string             // the tournament's folder
}

var _ Contest = (*Dropblox)(nil)

// testTurns and testClock bound the test of an entrant. A game's own clock does so too if it is shorter.
const (
	testTurns = 3
	testClock = 20 * time.Second
)

// Test plays a few turns: the entrant must end in time and write at least one command.
func (d *Dropblox) Test(ctx context.Context, e *Entrant) error {
	game, err := dropblox.NewLocal("1", min(d.Game.Clock, testClock))
	if err != nil {
		return err
	}
	words, commands, foreign := &contest.Tail{}, 0, ""
	program := e.turns(words)
	program.Foreign = func(line string) { foreign = line }
	for range testTurns {
		now := game.Status()
		limit := now.Left - dropblox.Margin
		t, err := program.Turn(ctx, now.State, limit)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return &Fault{Why: "does not start: " + err.Error()}
		case t.Ending == programs.Late:
			why := fmt.Sprintf("does not end within the time of a turn (%v)", limit.Round(time.Second))
			return &Fault{Why: why, Words: words.String()}
		case t.Ending == programs.Flooded:
			return &Fault{Why: "writes too much", Words: words.String()}
		}
		commands += len(t.Commands)
		if err := game.Submit(ctx, t.Commands); err != nil {
			return err
		}
	}
	if commands > 0 {
		return nil
	}
	f := &Fault{Why: fmt.Sprintf("writes no command in %d turns", testTurns), Words: words.String()}
	if foreign != "" {
		f.Why += fmt.Sprintf(", but %.60q", foreign)
	}
	return f
}

// turns is the entrant's program for a turn.
func (e *Entrant) turns(errors *contest.Tail) *programs.Program {
	return &programs.Program{Program: e.Program, Name: e.Name, Errors: errors}
}

// Play plays the seed with every entrant.
func (d *Dropblox) Play(ctx context.Context, g Game, seats []*Entrant) (r Result, rec *record.Record, err error) {
	log, err := os.Create(filepath.Join(d.Dir, LogFile(g.Number)))
	if err != nil {
		return r, nil, err
	}
	defer log.Close()
	for seat, e := range seats {
		fmt.Fprintf(log, "%s\n", e.Name)
		words := &contest.Tail{}
		game := d.Game
		game.ID, game.Seed = strconv.Itoa(g.Number+1), strconv.FormatUint(g.Seed, 10)
		game.Program, game.Console = e.turns(words), &dropblox.Console{W: log}
		played, recorder, err := game.Play(ctx)
		if ctx.Err() != nil {
			return r, nil, ctx.Err()
		}
		fault := ""
		if err != nil {
			fault = err.Error()
		}
		fmt.Fprintf(log, "%d points, %d turns, %s %s\n%s\n\n", played.Score, played.Turns, played.Reason, fault, words)
		r.Points, r.Faults = append(r.Points, played.Score), append(r.Faults, fault)
		r.UsedMS, r.MostMS = append(r.UsedMS, played.Used.Milliseconds()), append(r.MostMS, played.Longest.Milliseconds())
		r.Rounds = max(r.Rounds, played.Turns)
		if recorder != nil && (seat == 0 || played.Score > slices.Max(r.Points[:seat])) {
			if rec, err = recorder.End(played.Reason); err != nil {
				return r, nil, errors.Join(err, log.Close())
			}
		}
	}
	r.Ranks = contest.Ranks(r.Points)
	return r, rec, log.Sync()
}
