package series

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
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

// known estimates the mean of values; nil if there is none.
func known(values []float64) *match.Estimate {
	if len(values) == 0 {
		return nil
	}
	e := match.MeanOf(values)
	return &e
}

// format is the mean of n values as text, with its interval if that says anything.
func format(e match.Estimate, n int, verb string) string {
	text := fmt.Sprintf(verb, e.Value)
	if n > 1 {
		text += fmt.Sprintf(" ("+verb+" to "+verb+")", e.Low, e.High)
	}
	return text
}

// A SeedsReport is the result of a tournament.
type SeedsReport struct {
	Game    string           `json:"game"`
	Seconds float64          `json:"seconds"`
	Turns   int              `json:"turns,omitempty"`  // the limit
	Points  int              `json:"points,omitempty"` // the score at which games end
	Seeds   []string         `json:"seeds"`
	Bots    []*ProgramReport `json:"bots"`
	Played  []*Game          `json:"played"`
	Stopped bool             `json:"stopped,omitempty"`
}

// A ProgramReport is how one program did.
type ProgramReport struct {
	Name  string          `json:"name"`
	Games int             `json:"games"`
	Score match.Estimate  `json:"score"`
	Gain  *match.Estimate `json:"gain,omitempty"` // over the first program, on the seeds that both played
	Best  int             `json:"best"`
	Turns float64         `json:"turns"` // mean
	Times
	Ends map[string]int `json:"ends"` // games by reason

	// Seconds of the clock until SeedsReport.Points were reached, and how many more than the first program's on the seeds
	// on which both reached them; nil if there is none.
	Reached *match.Estimate `json:"reached,omitempty"`
	Later   *match.Estimate `json:"later,omitempty"`

	scores, gains, turns, reached, later []float64
}

// Report returns the result so far; stopped says that the tournament ended early.
func (t *Seeds) Report(stopped bool) *SeedsReport {
	out := &SeedsReport{
		Game: "dropblox", Seconds: t.Game.Clock.Seconds(), Turns: t.Game.Turns, Points: t.Game.Points, Seeds: t.Seeds,
		Played: []*Game{}, Stopped: stopped,
	}
	for b, p := range t.Programs {
		bot := &ProgramReport{Name: p.Name, Ends: map[string]int{}}
		for i := range t.results {
			if g := t.results[i][b]; g != nil {
				bot.add(g, t.results[i][0])
			}
		}
		bot.Score, bot.Turns = match.MeanOf(bot.scores), match.MeanOf(bot.turns).Value
		if b > 0 {
			gain := match.MeanOf(bot.gains)
			bot.Gain = &gain
		}
		bot.Reached, bot.Later = known(bot.reached), known(bot.later)
		out.Bots = append(out.Bots, bot)
	}
	for _, games := range t.results {
		for _, g := range games {
			if g != nil {
				out.Played = append(out.Played, g)
			}
		}
	}
	return out
}

// add adds a game; first is the first program's of the same seed, or nil.
func (b *ProgramReport) add(g, first *Game) {
	if g.Seconds != nil {
		b.reached = append(b.reached, *g.Seconds)
		if first != nil && first != g && first.Seconds != nil {
			b.later = append(b.later, *g.Seconds-*first.Seconds)
		}
	}
	b.Games++
	b.scores = append(b.scores, float64(g.Score))
	b.turns = append(b.turns, float64(g.Turns))
	if first != nil {
		b.gains = append(b.gains, float64(g.Score-first.Score))
	}
	b.Best = max(b.Best, g.Score)
	b.Times.Add(g.Times)
	b.Ends[string(g.Reason)]++
}

// String is a table for people.
func (r *SeedsReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "dropblox: %d programs on %d seeds, %g s a game", len(r.Bots), len(r.Seeds), r.Seconds)
	if r.Turns > 0 {
		fmt.Fprintf(&b, ", at most %d turns", r.Turns)
	}
	if r.Points > 0 {
		fmt.Fprintf(&b, ", until %d points", r.Points)
	}
	if r.Stopped {
		b.WriteString(", stopped early")
	}
	b.WriteString("\n\nseed                  program  score  turns  ms a turn  longest ms  end\n")
	for _, g := range r.Played {
		fmt.Fprintf(&b, "%-20.20s  %-7s  %5d  %5d  %9.1f  %10.1f  %s",
			g.Seed, Letter(g.Bot), g.Score, g.Turns, g.MeanMS, g.MostMS, g.Reason)
		if g.Fault != "" {
			fmt.Fprintf(&b, ": %s", g.Fault)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nprogram  games  mean score (95 % interval)  best  turns   ms a turn  longest ms  ends\n")
	for i, t := range r.Bots {
		fmt.Fprintf(&b, "%-7s  %5d  %-26s  %4d  %6.1f  %9.1f  %10.1f  %s\n", Letter(i), t.Games,
			format(t.Score, t.Games, "%.1f"), t.Best, t.Turns, t.MeanMS, t.MostMS, Counts(t.Ends))
	}
	b.WriteString("\n")
	for i, t := range r.Bots {
		fmt.Fprintf(&b, "%s is %s", Letter(i), t.Name)
		if t.Gain != nil && len(t.gains) > 0 {
			fmt.Fprintf(&b, ": %s a seed over A", format(*t.Gain, len(t.gains), "%+.1f"))
		}
		if t.Reached != nil {
			fmt.Fprintf(&b, "\n  %d points after %s s of the clock, in %d of %d games",
				r.Points, format(*t.Reached, len(t.reached), "%.1f"), len(t.reached), t.Games)
		}
		if t.Later != nil {
			fmt.Fprintf(&b, "\n  %s s later than A, on %d seeds", format(*t.Later, len(t.later), "%+.1f"), len(t.later))
		}
		b.WriteString("\n")
	}
	return b.String()
}
