package series

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/programs"
	"blockyard/agents/match"
	"blockyard/datasets/record"
)

// Rounds plays a contest whose programs are started for every turn. The players of a game play its seed one after the
// other, and the record is that of the one with the most points.
type Rounds struct {
	Game    dropblox.LocalGame // of every player and seed: its clock, its limits and the folder of its history
	Program func(number int) programs.Program
	Log     func(g *match.Played) string
	Foreign bool                          // the log has only the end of what a program writes to standard error
	Tell    func(format string, a ...any) // says how the games get on; may be called at any time, and may be nil
}

// Play implements match.Runner. What is wrong with a program is not an error, but goes into the game's result.
func (r *Rounds) Play(ctx context.Context, g *match.Played) (rec *record.Record, err error) {
	log, err := createLog(r.Log, g)
	if err != nil {
		return nil, err
	}
	if log != nil {
		defer func() { err = errors.Join(err, log.Close()) }()
	}
	for seat := range g.Seats {
		own, err := r.play(ctx, g, seat, log)
		if err != nil {
			return own, err
		}
		if own != nil && (seat == 0 || g.Points[seat] > slices.Max(g.Points[:seat])) {
			rec = own
		}
	}
	g.Ranks = contest.Ranks(g.Points)
	return rec, nil
}

func (r *Rounds) play(ctx context.Context, g *match.Played, seat int, log *os.File) (*record.Record, error) {
	program := r.Program(g.Seats[seat])
	who, game := match.Letter(g.Seats[seat]), r.Game
	game.ID, game.Seed, game.Program = fmt.Sprintf("%s%d", who, g.Unit+1), g.Seed, &program
	used, words := time.Duration(0), &contest.Tail{}
	game.Each = func(now dropblox.Result) {
		if log != nil {
			fmt.Fprintf(log, "answer_ms: %.3f\n", 1000*(now.Used-used).Seconds())
			used = now.Used
		}
		if r.Tell != nil {
			r.Tell("%s, seed %.12s: turn %d, %d points", who, g.Seed, now.Turns, now.Score)
		}
	}
	if log != nil {
		fmt.Fprintln(log, program.Name)
		game.Console, program.Errors = &dropblox.Console{W: log}, log
	}
	if r.Foreign {
		program.Errors = words
	}
	end, recorder, err := game.Play(ctx)
	if err == nil {
		game.Console.Results(end)
	}
	var rec *record.Record
	if recorder != nil {
		var e error
		if rec, e = recorder.End(end.Reason); e != nil {
			return nil, e
		}
	}
	switch {
	case ctx.Err() != nil && end.Reason == dropblox.Stopped:
		return rec, ctx.Err()
	case err != nil && (rec == nil || end.Reason != dropblox.Failed):
		return rec, err
	}
	fault, after := "", 0.
	if err != nil {
		fault = err.Error()
	}
	if log != nil && r.Foreign {
		fmt.Fprintf(log, "%s %s\n%s\n\n", end.Reason, fault, words)
	}
	if end.Reason == dropblox.Points {
		after = (game.Clock - end.Left).Seconds()
	}
	g.Points, g.Faults, g.After = append(g.Points, end.Score), append(g.Faults, fault), append(g.After, after)
	g.UsedMS, g.MostMS = append(g.UsedMS, 1000*end.Used.Seconds()), append(g.MostMS, 1000*end.Longest.Seconds())
	g.Tallies = append(g.Tallies, contest.Tally{Answers: end.Turns})
	if g.Rounds = max(g.Rounds, end.Turns); len(g.Seats) == 1 {
		g.Reason = string(end.Reason)
	}
	return rec, nil
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
