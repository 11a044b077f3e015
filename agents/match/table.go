package match

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"blockyard/datasets/program/chart"
	"blockyard/env/ansi"
)

const mostText = 1000

// String is a table of the players, in their order. If the report lists its games, they follow, and players are letters
// in the order of the command line.
func (r *Report) String() string {
	var b strings.Builder
	format := r.Settings["format"]
	fmt.Fprintf(&b, "%s%s, seed %s: %d games%s%s%s\n", r.Game, cell(format != "", ", %s", format), r.Seed, r.Games,
		cell(r.Games+r.Repeated+len(r.Void) < r.Expected, " of %d; run the same command again to go on", r.Expected),
		r.limits(), cell(r.Stopped, ", stopped early"))
	if r.Played != nil {
		for _, p := range r.Players {
			fmt.Fprintf(&b, "%s: %s\n", Letter(p.Number), p.Name)
		}
	}
	if len(r.Players) > 0 {
		b.WriteString("\n" + r.table())
	}
	if r.Played != nil {
		b.WriteString("\n" + r.games() + r.remarks())
	}
	for _, p := range r.Players {
		for _, text := range p.answers().Odd {
			fmt.Fprintf(&b, "%s: %s\n", r.called(&p), ansi.Plain(text, mostText))
		}
	}
	if text := r.Overload(); text != "" {
		fmt.Fprintf(&b, "%s; give it fewer games at once (--workers), or less else to do\n", text)
	}
	b.WriteString(r.repeated())
	for _, text := range r.Void {
		fmt.Fprintf(&b, "does not count: %s\n", text)
	}
	return b.String()
}

func (r *Report) repeated() string {
	return cell(r.Repeated > 0, "%d more games repeat one of them move for move, and do not count\n", r.Repeated)
}

func (r *Report) called(p *Standing) string {
	if r.Played != nil {
		return Letter(p.Number)
	}
	return p.Name
}

const widest = 100 // columns of a terminal

// table lays out the standings. Columns without a cell are left out; those for which there is no room follow below.
func (r *Report) table() string {
	rows, width, text := make([][]string, 1+len(r.Players)), 0, ""
	var all [][][2]string
	for k := range r.Players {
		all = append(all, r.cells(k+1, &r.Players[k]))
	}
	for c, cell := range all[0] {
		if slices.ContainsFunc(all, func(row [][2]string) bool { return row[c][1] != "" }) {
			column := []string{cell[0]}
			for k := range all {
				column = append(column, all[k][c][1])
			}
			need := 2 + len(slices.MaxFunc(column, func(a, b string) int { return len(a) - len(b) }))
			if width += need; width > widest {
				text += align(rows) + "\n"
				rows, width = make([][]string, len(column)), 2+len("player")+need
				rows[0] = []string{"player"}
				for k := range r.Players {
					rows[k+1] = []string{r.called(&r.Players[k])}
					width = max(width, 2+len(rows[k+1][0])+need)
				}
			}
			for k, cell := range column {
				rows[k] = append(rows[k], cell)
			}
		}
	}
	return text + align(rows)
}

func (r *Report) cells(place int, s *Standing) [][2]string {
	listed, alone := r.Played != nil, r.Seats == 1
	p, a := cmp.Or(s.Points, &Points{}), s.answers()
	t := cmp.Or(a.Times, &Times{})
	counted := a.Answers+a.Timeouts+a.Remarks+a.Ended > 0
	played := s.Games > 0 // who has not has no result yet
	return [][2]string{
		{"place", cell(!listed && played, "%d", place)}, // a list of games goes with the order of the command line
		{"player", r.called(s)},
		{"", s.Left},
		{"language", s.Language},
		{"games", cell(true, "%d", s.Games)},
		{"wins", cell(played, "%d", s.Wins)},
		{"draws", cell(played, "%d", s.Draws)},
		{"losses", cell(played, "%d", s.Losses)},
		{"score", cell(played, "%.1f %%", 100*s.Score)},
		{"Elo", cell(played, "%+.0f", s.Elo.Value)},
		{"95 % interval", cell(played, "%+.0f to %+.0f", s.Elo.Low, s.Elo.High)},
		{"mean rank", cell(r.Seats > 2, "%.3f", s.Rank.Value)},
		{"mean points", cell(s.Points != nil && (alone || s.Program != nil), "%.1f", p.Mean.Value)},
		{"95 % interval", cell(s.Points != nil && alone, "%.1f to %.1f", p.Mean.Low, p.Mean.High)},
		{"best", cell(s.Points != nil && alone, "%d", p.Best)},
		{"turns", cell(listed, "%.1f", float64(s.Turns)/float64(max(s.Games, 1)))},
		{"ms per game", cell(s.Program != nil && !counted, "%.0f", a.UsedMS)},
		{"CPU ms", cell(a.Times != nil, "%.0f", t.CPUMS)},
		{"waited ms", cell(a.Times != nil, "%.0f", t.Waiting())},
		{"answers", cell(counted, "%d", a.Answers)},
		{"time-outs", cell(counted, "%d", a.Timeouts)},
		{"remarks", cell(counted, "%d", a.Remarks)},
		{"ended", cell(counted, "%d", a.Ended)},
		{"ms per answer", cell(a.Answers > 0, "%.1f", a.AnswerMS)},
		{"longest ms", cell(counted, "%.1f", a.MostMS)},
		{"s left", cell(a.LeftS != nil, "%.1f", *cmp.Or(a.LeftS, new(0.)))},
		{"ends", cell(alone && listed, "%s", list(s.Ends))},
		{"faults", list(s.Faults)},
	}
}

// cell is the text of a cell, "" unless it is shown.
func cell(shown bool, format string, args ...any) string {
	if !shown {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func (r *Report) games() string {
	seats := "seats"
	if len(r.Played) > 0 && r.Played[0].Names != nil {
		seats = strings.Join(r.Played[0].Names, " ")
	}
	rows := [][]string{{"game", "seed", seats, "turns", "points", "ranks", "end"}}
	for _, g := range r.Played {
		var who []string
		end := g.Reason
		for seat, number := range g.Seats {
			who = append(who, Letter(number))
			if fault := g.Fault(seat); fault != "" {
				end = strings.TrimPrefix(fmt.Sprintf("%s, %s: %s", end, Letter(number), fault), ", ")
			}
		}
		rows = append(rows, []string{strconv.Itoa(g.Number + 1), fmt.Sprintf("%.20s", g.Seed), strings.Join(who, " "),
			strconv.Itoa(g.Rounds), numbers(g.Points), numbers(g.Ranks), end})
	}
	return align(rows)
}

func numbers(v []int) string { return strings.Trim(fmt.Sprint(v), "[]") }

// remarks are what the games say about the players.
func (r *Report) remarks() string {
	var b strings.Builder
	if r.Distinct > 0 {
		fmt.Fprintf(&b, "distinct games: %d of %d%s\n", r.Distinct, r.Games, cell(r.Distinct < r.Games,
			"; the others repeat one of them move for move (--new-seed game: a new seed for every game)"))
	}
	for _, p := range r.Players {
		if p.Reached != nil {
			fmt.Fprintf(&b, "%s: %s points after %s s of the clock, in %d of %d games\n", r.called(&p), r.Settings["points"],
				p.Reached.text(len(p.after), "%.1f"), len(p.after), p.Games)
		}
	}
	for _, m := range r.Meetings {
		if m.Total() == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s won %d, drew %d and lost %d of %d games against %s: %.1f %%, 95 %% interval %.1f to %.1f", m.A,
			m.Wins, m.Draws, m.Losses, m.Total(), m.B, 100*m.Score.Value, 100*m.Score.Low, 100*m.Score.High)
		if m.Difference != nil {
			fmt.Fprintf(&b, "; %s points a seed", m.Difference.text(m.Total(), "%+.1f"))
		}
		if m.Later != nil {
			fmt.Fprintf(&b, "; %+.1f s later", m.Later.Value)
		}
		b.WriteString("\n")
	}
	if r.Winner != "" {
		fmt.Fprintf(&b, "winner of the match: %s\n", r.Winner)
	}
	return b.String()
}

// text is the estimate of the mean of n values, with its interval if that says anything.
func (e Estimate) text(n int, verb string) string {
	if n < 2 {
		return fmt.Sprintf(verb, e.Value)
	}
	return fmt.Sprintf(verb+" ("+verb+" to "+verb+")", e.Value, e.Low, e.High)
}

func list(counts map[string]int) string {
	var parts []string
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", word, counts[word]))
	}
	return strings.Join(parts, ", ")
}

func align(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	w.Flush()
	return b.String()
}

// Versus is the report of a match between two players, or of one alone. It marshals to the same JSON; String shows the
// result of the first against the other instead of a table.
type Versus struct{ *Report }

// String returns the result of the match as lines for people. JSON for programs is in agents/JSON.md.
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
%spairs   %d lost, %d at ½, %d at 1, %d at 1½, %d won%s
score   %.2f %%, 95 %% interval %.2f to %.2f
Elo     %+.0f, 95 %% interval %+.0f to %+.0f%s
`, v.Game, m.A, m.B, v.Seed, v.early(), v.Games, m.Wins, m.Draws, m.Losses, v.repeated(),
		m.Pairs[0], m.Pairs[1], m.Pairs[2], m.Pairs[3], m.Pairs[4],
		cell(m.Alike > 0, "; the same game twice in %d", m.Alike),
		100*m.Score.Value, 100*m.Score.Low, 100*m.Score.High, m.Elo.Value, m.Elo.Low, m.Elo.High, m.normalised())
	if m.LLR != nil {
		lower, upper := v.test.Bounds()
		text += fmt.Sprintf("SPRT    Elo %g against %g: LLR %+.2f in [%.2f, %.2f]: %s\n",
			v.test.Elo0, v.test.Elo1, *m.LLR, lower, upper, m.Verdict)
	}
	return text
}

func (m *Meeting) normalised() string {
	if m.Normalised == nil {
		return ""
	}
	return fmt.Sprintf("; normalised %+.0f, %+.0f to %+.0f", m.Normalised.Value, m.Normalised.Low, m.Normalised.High)
}

func (v Versus) early() string { return cell(v.Stopped, "stopped early\n") }

func (v Versus) sets() string {
	a, b := v.Players[0], v.Players[1]
	pointsA, pointsB := cmp.Or(a.Points, &Points{}), cmp.Or(b.Points, &Points{})
	return fmt.Sprintf(`%s for %d: one %s among %s, seed %s
%sgames   %d in %d sets, first in %d
%srank    %.3f, 95 %% interval %.3f to %.3f; the others %.3f
points  %.2f; the others %.2f
`, v.Game, v.Seats, a.Name, b.Name, v.Seed, v.early(), v.Games, v.Units, a.First, v.repeated(),
		a.Rank.Value, a.Rank.Low, a.Rank.High, b.Rank.Value, pointsA.Mean.Value, pointsB.Mean.Value)
}

func (v Versus) alone() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", v.Game, v.Players[0].Name)
	if len(v.Players) > 1 {
		fmt.Fprintf(&b, " and %s, each alone", v.Players[1].Name)
	}
	fmt.Fprintf(&b, ", seed %s, %d games%s\n%s", v.Seed, v.Units, v.limits(), v.early())
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

// Draw writes a picture of the ratings with their 95 % intervals as SVG, the strongest at the top.
func (r *Report) Draw(to io.Writer) error {
	var rows []chart.Row
	for _, s := range r.Players {
		rows = append(rows, chart.Row{Name: s.Name, Value: s.Elo.Value, Low: s.Elo.Low, High: s.Elo.High})
	}
	title := fmt.Sprintf("%s: %d games, seed %s", r.Game, r.Games, r.Seed)
	_, err := io.WriteString(to, chart.Rows(title, "Elo relative to the mean, with 95 % intervals", rows))
	return err
}
