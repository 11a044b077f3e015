package series

import (
	"fmt"
	"strings"

	"blockyard/agents/match"
)

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
