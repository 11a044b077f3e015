package series

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/programs"
	"blockyard/agents/match"
	"blockyard/datasets/record"
)

// Seeds is a number of games: every program plays every seed.
type Seeds struct {
	Programs []*programs.Program
	Seeds    []string
	Game     dropblox.LocalGame // of every program and seed: its clock, its limits and the folder of its history
	Workers  int                // games at the same time
	LogDir   string             // folder for a log of each game; "" for none

	Record *record.Writer                // gets every game, an unfinished one included; may be nil
	Done   func(games int)               // called after every game
	Tell   func(format string, a ...any) // says how the games get on; may be called at any time

	results [][]*Game // [seed][program]; nil if it was not played to its end
}

// A Game is one program's game of one seed.
type Game struct {
	Seed   string          `json:"seed"`
	Bot    int             `json:"bot"`
	Score  int             `json:"score"`
	Turns  int             `json:"turns"`
	Reason dropblox.Reason `json:"reason"`
	Fault  string          `json:"fault,omitempty"` // why it failed
	// Seconds of the clock until the points were reached at which it ends; nil if they were not.
	Seconds *float64 `json:"seconds,omitempty"`
	Times
}

// An attempt is a game with its record, or, if it did not end, with the record alone.
type attempt struct {
	game *Game
	rec  *record.Record
}

// Play plays the games, seed by seed, and returns how many of them are in Record. It ends
// with ctx, without an error; the report then is about the games that ended.
func (t *Seeds) Play(ctx context.Context) (kept int, err error) {
	n := len(t.Programs)
	t.results = make([][]*Game, len(t.Seeds))
	for i := range t.results {
		t.results[i] = make([]*Game, n)
	}
	played := 0
	play := func(ctx context.Context, i int) (attempt, error) { return t.game(ctx, i/n, i%n) }
	i := 0
	for a, err := range match.InOrder(ctx, t.Workers, len(t.Seeds)*n, play) {
		if err != nil {
			return kept, err
		}
		if a.rec != nil {
			kept++
			if err := t.Record.Write(a.rec); err != nil {
				return kept, err
			}
		}
		if t.results[i/n][i%n] = a.game; a.game != nil {
			played++
			t.Done(played)
		}
		i++
	}
	return kept, nil
}

// game plays a seed with a program. The error is not the program's: what is wrong with that
// goes into the game's result.
func (t *Seeds) game(ctx context.Context, seed, bot int) (a attempt, err error) {
	if ctx.Err() != nil {
		return a, nil
	}
	id := fmt.Sprintf("%s%d", Letter(bot), seed+1)
	program := *t.Programs[bot]
	g := t.Game
	g.ID, g.Seed, g.Program = id, t.Seeds[seed], &program
	g.Each = func(r dropblox.Result) {
		t.Tell("%s, seed %.12s: turn %d, %d points", Letter(bot), t.Seeds[seed], r.Turns, r.Score)
	}
	log, err := CreateLog(t.LogDir, id)
	if err != nil {
		return a, err
	}
	if log != nil {
		defer log.Close()
		tell, used := g.Each, time.Duration(0)
		g.Each = func(r dropblox.Result) {
			fmt.Fprintf(log, "answer_ms: %.3f\n", 1000*(r.Used-used).Seconds())
			used = r.Used
			tell(r)
		}
		g.Console, program.Errors = &dropblox.Console{W: log}, log
	}
	r, rec, err := g.Play(ctx)
	if err == nil {
		g.Console.Results(r)
	}
	if t.Record != nil && rec != nil {
		var e error
		if a.rec, e = rec.End(r.Reason); e != nil {
			return a, e
		}
	}
	switch {
	case ctx.Err() != nil && r.Reason == dropblox.Stopped:
		return a, nil
	case err != nil && (rec == nil || r.Reason != dropblox.Failed):
		return a, err
	}
	a.game = &Game{Seed: t.Seeds[seed], Bot: bot, Score: r.Score, Turns: r.Turns, Reason: r.Reason}
	if r.Reason == dropblox.Points {
		used := (g.Clock - r.Left).Seconds()
		a.game.Seconds = &used
	}
	a.game.Times = TimesOf(r.Used, r.Longest, r.Turns)
	if err != nil {
		a.game.Fault = err.Error()
	}
	return a, nil
}

// LocalGame returns a local game with the clock and the limits of some settings.
func LocalGame(s contest.Settings) (g dropblox.LocalGame, err error) {
	var errs [3]error
	g.Turns, errs[0] = s.Number("turns", 0)
	g.Points, errs[1] = s.Number("points", 0)
	seconds, err := strconv.ParseFloat(s["seconds"], 64)
	if err != nil || !(seconds > 0 && seconds <= 1e6) {
		errs[2] = fmt.Errorf("--seconds %.40s: want more than 0, at most a million", s["seconds"])
	}
	g.Clock = time.Duration(seconds * float64(time.Second))
	return g, errors.Join(errs[:]...)
}
