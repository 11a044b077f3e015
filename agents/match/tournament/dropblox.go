package tournament

import (
	"context"
	"fmt"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/programs"
	"blockyard/agents/match/series"
)

// Dropblox is the contest of Dropblox: the entrants of a game play the same seed, one after the other, and the higher
// score wins. The record is that of the winner.
type Dropblox struct{ series.Rounds }

var _ Contest = (*Dropblox)(nil)

// testTurns and testClock bound the test of an entrant. If the clock of its games is shorter, that bounds it too.
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
	program := e.Turns()
	program.Errors = words
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

// Turns is the entrant's program for a turn.
func (e *Entrant) Turns() programs.Program { return programs.Program{Program: e.Program, Name: e.Name} }
