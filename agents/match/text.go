package match

import (
	"fmt"
	"strings"
)

// Versus is the report of a match between two players, or of one alone. It marshals to the same JSON; String shows the
// result of the first against the other instead of a table.
type Versus struct{ *Report }

// String implements fmt.Stringer.
func (v Versus) String() string {
	switch {
	case v.Seats == 1:
		return v.alone()
	case v.Seats > 2:
		return v.sets()
	}
	m := v.Meetings[0]
	text := fmt.Sprintf(`%s: %s against %s, seed %s
%sgames   %d: %d wins, %d draws, %d losses
pairs   %d lost, %d at ½, %d at 1, %d at 1½, %d won
score   %.2f %%, 95 %% interval %.2f to %.2f
Elo     %+.0f, 95 %% interval %+.0f to %+.0f
`, v.Game, m.A, m.B, v.Seed, early(v.Stopped), v.Games, m.Wins, m.Draws, m.Losses,
		m.Pairs[0], m.Pairs[1], m.Pairs[2], m.Pairs[3], m.Pairs[4],
		100*m.Score.Value, 100*m.Score.Low, 100*m.Score.High, m.Elo.Value, m.Elo.Low, m.Elo.High)
	if m.LLR != nil {
		lower, upper := v.test.Bounds()
		text += fmt.Sprintf("SPRT    Elo %g against %g: LLR %+.2f in [%.2f, %.2f]: %s\n",
			v.test.Elo0, v.test.Elo1, *m.LLR, lower, upper, m.Verdict)
	}
	return text
}

func early(stopped bool) string {
	if stopped {
		return "stopped early\n"
	}
	return ""
}

// sets is the text of games of more than two seats.
func (v Versus) sets() string {
	a, b := v.Players[0], v.Players[1]
	return fmt.Sprintf(`%s for %d: one %s among %s, seed %s
%sgames   %d in %d sets, first in %d
rank    %.3f, 95 %% interval %.3f to %.3f; the others %.3f
points  %.2f; the others %.2f
`, v.Game, v.Seats, a.Name, b.Name, v.Seed, early(v.Stopped), v.Games, v.Units, a.First,
		a.Rank.Value, a.Rank.Low, a.Rank.High, b.Rank.Value, mean(a.Points), mean(b.Points))
}

// alone is the text of games of one seat.
func (v Versus) alone() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", v.Game, v.Players[0].Name)
	if len(v.Players) > 1 {
		fmt.Fprintf(&b, " and %s, each alone", v.Players[1].Name)
	}
	fmt.Fprintf(&b, ", seed %s, %d games%s\n%s", v.Seed, v.Units, v.limits(), early(v.Stopped))
	for _, p := range v.Players {
		b.WriteString(p.Name + "\n")
		if p.Points == nil {
			continue
		}
		s, d := p.Points, p.Points.PerEnd
		fmt.Fprintf(&b, `  score     mean %.1f, 95 %% interval %.1f to %.1f; median %.1f, worst %d, best %d
  games     %d ended, %d stopped; %d choices
`, s.Mean.Value, s.Mean.Low, s.Mean.High, s.Median, s.Worst, s.Best, p.Games-p.Ends[Limit], p.Ends[Limit], p.Turns)
		if p.Ends[Limit] == p.Games {
			fmt.Fprintf(&b, "  per end   none in a score of %d: above %.0f at 95 %%\n", s.Total, d.Low)
			continue
		}
		fmt.Fprintf(&b, "  per end   score %.0f, 95 %% interval %.0f to %.0f, as if an end came at any time alike\n",
			d.Value, d.Low, d.High)
	}
	if len(v.Meetings) > 0 && v.Units > 0 {
		m := v.Meetings[0]
		fmt.Fprintf(&b, `by seed   %d wins, %d draws, %d losses of %s: score %.2f %%, 95 %% interval %.2f to %.2f
          %+.1f score a seed, 95 %% interval %+.1f to %+.1f
`, m.Wins, m.Draws, m.Losses, m.A, 100*m.Score.Value, 100*m.Score.Low, 100*m.Score.High,
			m.Difference.Value, m.Difference.Low, m.Difference.High)
	}
	return b.String()
}

// limits says what limited the games.
func (r *Report) limits() (text string) {
	for _, limit := range [][2]string{
		{"skip", " after the first %s"}, {"cap", ", stopped at score %s"}, {"steps", ", stopped after %s choices"},
		{"seconds", ", %s s a game"}, {"turns", ", at most %s turns"}, {"points", ", until %s points"},
	} {
		if v, ok := r.Settings[limit[0]]; ok {
			text += fmt.Sprintf(limit[1], v)
		}
	}
	return text
}

// mean is the mean of points, 0 without a game.
func mean(p *Points) float64 {
	if p == nil {
		return 0
	}
	return p.Mean.Value
}
