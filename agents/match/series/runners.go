package series

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/dropblox"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env"
)

// Lines is a match.Runner for programs that talk to a contest in lines of text.
type Lines struct {
	Rules  *env.Game
	Setup  *contest.Setup
	Player func(number int) contest.Player
	Log    func(g *match.Played) string // file that gets all that is said; nil or "" keeps nothing
	Errors io.Writer                    // gets the programs' standard error; may be nil
	Strict bool                         // what a player did wrong is a fault, and not only what the contest says
	Clock  contest.Clock                // which time of an answer the programs are charged with
	Losses []string                     // if Strict: reasons for which who did not win is to blame, such as "illegal"
}

// Play implements match.Runner. It starts the programs of the game, and ends them before it returns. A game that a busy
// machine has decided does not count and is played again.
func (l *Lines) Play(ctx context.Context, g *match.Played) (rec *record.Record, err error) {
	file, err := createLog(l.Log, g)
	if err != nil {
		return nil, err
	}
	if file != nil {
		defer func() { err = errors.Join(err, file.Close()) }()
	}
	err = attempts(g, func() (err error) {
		log := newLog(file, l.Errors)
		rec, err = l.play(ctx, g, log)
		if errors.Is(err, contest.ErrStalled) {
			log.line(contest.Note, -1, "this attempt does not count: "+contest.ErrStalled.Error())
			return errors.Join(err, log.end(nil))
		}
		return errors.Join(err, log.end(rec))
	})
	return rec, err
}

// attempts plays a game, again if the machine was too busy to time it, and at last makes it void.
func attempts(g *match.Played, play func() error) error {
	for begun := *g; ; *g = begun {
		err := play()
		if begun.Stalled++; !errors.Is(err, contest.ErrStalled) {
			return err
		}
		if g.Stalled = begun.Stalled; g.Stall() {
			return nil
		}
	}
}

func (l *Lines) play(ctx context.Context, g *match.Played, log *gameLog) (rec *record.Record, err error) {
	seed, err := strconv.ParseUint(g.Seed, 10, 64)
	if err != nil {
		return nil, err
	}
	state := l.Rules.New(len(g.Seats))
	state.Reset(seed)
	var players []contest.Player
	var agents []string
	for _, number := range g.Seats {
		p := l.Player(number)
		players, agents = append(players, p), append(agents, p.Agent)
	}
	rec = record.New(l.Rules, seed, agents)
	host, changed := l.Setup.New(state, func(acting env.Seats, moves env.Moves) {
		g.Rounds++
		rec.Add(acting, moves)
	})
	if changed {
		if rec.Start, err = env.Encode(nil, state); err != nil {
			return nil, err
		}
	}
	g.Names = host.Referee.Names()
	log.names = g.Names
	host.Log, host.Clock = log.line, l.Clock
	for seat, p := range players {
		if log.introduce(seat, p.Name); err == nil {
			err = contest.Speak(host.Referee, seat, p.Dialect)
		}
	}
	if err != nil {
		return nil, err
	}
	host.Start = func(seat int) (contest.Asker, error) {
		bot, err := players[seat].Start(func(text string) { log.line(contest.Error, seat, text) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", players[seat].Name, err)
		}
		bot.Clock = l.Clock
		return bot, nil
	}
	g.Tallies, err = host.Play(ctx)
	l.note(g, host.Referee.Outcome())
	rec.End(state)
	rec.Meta = l.meta(g, host.Referee.Outcome())
	return rec, err
}

// meta is that of a record: what the contest says, what decided the game, and whose the time of the answers was.
func (l *Lines) meta(g *match.Played, o contest.Outcome) map[string]string {
	meta := maps.Clone(o.Meta)
	if meta == nil {
		meta = map[string]string{}
	}
	if o.Reason != "" {
		meta[record.Reason] = o.Reason
	}
	if l.Clock != "" {
		meta["clock"] = string(l.Clock)
	}
	for seat, fault := range l.faults(g, o) {
		if fault != "" {
			meta[record.Fault+g.Names[seat]] = fault
		}
		if l.Clock != "" {
			meta["time of "+g.Names[seat]] = g.Tallies[seat].Time.String()
		}
	}
	return meta
}

func (l *Lines) note(g *match.Played, o contest.Outcome) {
	g.Points, g.Ranks, g.Reason, g.Faults = o.Points, o.Ranking(len(g.Seats)), o.Reason, o.Faults
	for _, t := range g.Tallies {
		g.Odd, g.Times = append(g.Odd, t.Habits()), append(g.Times, match.TimesOf(t.Time))
		g.UsedMS, g.MostMS = append(g.UsedMS, 1000*t.Used.Seconds()), append(g.MostMS, 1000*t.Longest.Seconds())
	}
	if l.Strict {
		g.Faults = l.faults(g, o)
	}
}

// faults are what each player was ended for or lost by; "" for nothing.
func (l *Lines) faults(g *match.Played, o contest.Outcome) []string {
	faults := make([]string, len(g.Tallies))
	for seat, t := range g.Tallies {
		switch {
		case seat < len(o.Faults) && o.Faults[seat] != "":
			faults[seat] = o.Faults[seat]
		case t.Limits.Timeouts > 0 && t.Bank.Timeouts >= t.Limits.Timeouts:
			faults[seat] = "too many time-outs"
		case o.Winner != seat && slices.Contains(l.Losses, o.Reason):
			faults[seat] = o.Reason
		case t.Gone && o.Ranks == nil && !slices.Contains(l.Losses, o.Reason):
			faults[seat] = "ended early"
		}
	}
	return faults
}

// Rounds plays a contest whose programs are started for every turn. The players of a game play its seed one after the
// other, and the record is that of the one with the most points.
type Rounds struct {
	Game   dropblox.LocalGame // of every player and seed: its clock, its limits and the folder of its history
	Player func(number int) contest.Player
	Log    func(g *match.Played) string
	Tell   func(format string, a ...any) // says how the games get on; may be called at any time, and may be nil
}

// Play implements match.Runner. What is wrong with a program is not an error, but goes into the game's result.
func (r *Rounds) Play(ctx context.Context, g *match.Played) (rec *record.Record, err error) {
	file, err := createLog(r.Log, g)
	if err != nil {
		return nil, err
	}
	if file != nil {
		defer func() { err = errors.Join(err, file.Close()) }()
	}
	for seat := range g.Seats {
		log := newLog(file, nil)
		own, err := r.play(ctx, g, seat, log)
		if err = errors.Join(err, log.end(own)); err != nil {
			return own, err
		}
		if own != nil && (seat == 0 || g.Points[seat] > slices.Max(g.Points[:seat])) {
			rec = own
		}
	}
	g.Ranks = contest.Ranks(g.Points)
	return rec, nil
}

func (r *Rounds) play(ctx context.Context, g *match.Played, seat int, log *gameLog) (*record.Record, error) {
	player := r.Player(g.Seats[seat])
	program := dropblox.Program{Program: player.Program, Name: player.Name}
	who, game := match.Letter(g.Seats[seat]), r.Game
	game.ID, game.Seed, game.Program = fmt.Sprintf("%s%d", who, g.Unit+1), g.Seed, &program
	log.names = []string{who}
	log.introduce(0, program.Name)
	game.Log = func(k contest.Kind, text string) { log.line(k, 0, text) }
	game.Each = func(now dropblox.Result) {
		if r.Tell != nil {
			r.Tell("%s, seed %.12s: turn %d, %d points", who, g.Seed, now.Turns, now.Score)
		}
	}
	end, recorder, err := game.Play(ctx)
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
	over := fmt.Sprintf("over after %d turns, %d points: %s %s", end.Turns, end.Score, end.Reason, fault)
	log.line(contest.Note, -1, over)
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
