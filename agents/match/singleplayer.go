package match

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"blockyard/datasets/record"
)

// A Run is the result of one player with one seed.
type Run struct {
	Score int
	Steps int  // actions taken
	Ended bool // false if the game was stopped by Match.Cap or Match.Steps
}

// A SinglePlayerResult says how A did, and how B did with the same seeds, if there is a B. Wins, draws and losses
// then count seeds by score from the view of A. It marshals to JSON; String is a table for people.
type SinglePlayerResult struct {
	Game   string    `json:"game"`
	A      string    `json:"a"`
	B      string    `json:"b,omitempty"`
	Seed   uint64    `json:"seed,string"`
	Games  int       `json:"games"` // of each player
	Cap    int       `json:"cap,omitempty"`
	Steps  int       `json:"steps,omitempty"`
	Skip   int       `json:"skip,omitempty"`
	AStats RunStats  `json:"a_life"`
	BStats *RunStats `json:"b_life,omitempty"`
	Counts
	Score      float64   `json:"score"` // wins and half the draws, as a fraction
	Low        float64   `json:"low"`   // 95 % interval of the score
	High       float64   `json:"high"`
	Difference *Estimate `json:"difference,omitempty"` // of the scores with the same seed
	Stopped    bool      `json:"stopped,omitempty"`    // the context ended

	Runs [][]Run `json:"-"` // by player, seed by seed
}

// SinglePlayer plays a game of one seat: A, and B if there is one, play the same seeds, each alone.
func (m Match) SinglePlayer(ctx context.Context) (SinglePlayerResult, error) {
	r := SinglePlayerResult{
		Game: m.Rules.Name, A: m.A.Name, B: m.B.Name, Seed: m.Seed, Cap: m.Cap, Steps: m.Steps, Skip: m.Skip,
	}
	if err := m.check(1); err != nil {
		return r, err
	}
	lineups := [][]Entrant{{{}}}
	if m.B.New != nil {
		lineups = append(lineups, []Entrant{{B: true}})
	}
	r.Runs = make([][]Run, len(lineups))
	total := 0
	var err error
	r.Stopped, err = m.play(ctx, lineups, func(games []*record.Record) bool {
		for k, rec := range games {
			r.Runs[k] = append(r.Runs[k], Run{rec.Scores[0], len(rec.Choices), !rec.Stopped})
		}
		r.Games++
		total += games[0].Scores[0]
		m.progress(r.Games, "mean %.0f", float64(total)/float64(r.Games))
		return true
	})
	if r.Games > 0 {
		r.AStats = statsOf(r.Runs[0])
	}
	if r.Games > 0 && len(r.Runs) > 1 {
		b := statsOf(r.Runs[1])
		r.BStats = &b
		r.compare(r.Runs[0], r.Runs[1])
	}
	return r, err
}

// compare compares the runs of A and B.
func (r *SinglePlayerResult) compare(a, b []Run) {
	differences, points := make([]float64, len(a)), make([]float64, len(a))
	for i := range a {
		differences[i] = float64(a[i].Score - b[i].Score)
		half := 1 + cmp.Compare(a[i].Score, b[i].Score)
		r.Count(half)
		points[i] = float64(half) / 2
	}
	share, difference := shareOf(points, nil), MeanOf(differences)
	r.Score, r.Low, r.High, r.Difference = share.Value, share.Low, share.High, &difference
}

// String implements fmt.Stringer.
func (r SinglePlayerResult) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Game, r.A)
	if r.BStats != nil {
		fmt.Fprintf(&b, " and %s, each alone", r.B)
	}
	fmt.Fprintf(&b, ", seed %d, %d games", r.Seed, r.Games)
	for _, part := range []struct {
		text string
		n    int
	}{
		{" after the first %d", r.Skip}, {", stopped at score %d", r.Cap}, {", stopped after %d choices", r.Steps},
	} {
		if part.n > 0 {
			fmt.Fprintf(&b, part.text, part.n)
		}
	}
	b.WriteString("\n" + early(r.Stopped) + r.A + "\n" + r.AStats.String())
	if r.BStats != nil {
		fmt.Fprintf(&b, `%s
%sby seed   %d wins, %d draws, %d losses of %s: score %.2f %%, 95 %% interval %.2f to %.2f
          %+.1f score a seed, 95 %% interval %+.1f to %+.1f
`, r.B, *r.BStats, r.Wins, r.Draws, r.Losses, r.A, 100*r.Score, 100*r.Low, 100*r.High,
			r.Difference.Value, r.Difference.Low, r.Difference.High)
	}
	return b.String()
}

// RunStats sum up the runs of one player.
type RunStats struct {
	Games   int      `json:"games"`
	Mean    Estimate `json:"mean"` // score per game; a stopped game counts with its score so far
	Median  float64  `json:"median"`
	Worst   int      `json:"worst"`
	Best    int      `json:"best"`
	Stopped int      `json:"stopped"` // games that were stopped by a limit
	Deaths  int      `json:"deaths"`  // games that ended
	Total   int      `json:"total"`   // score of all games together
	// PerDeath is Total over Deaths. It assumes that a game is equally likely to end at any point (a Poisson
	// process). Without a death, Value is a lower bound at 95 % and High is 0, which means none.
	PerDeath Estimate `json:"per_death"`
	Steps    int      `json:"steps"` // actions in all games together
}

// statsOf sums up runs, of which there is at least one.
func statsOf(runs []Run) RunStats {
	s := RunStats{Games: len(runs)}
	scores := make([]float64, len(runs))
	for i, r := range runs {
		scores[i] = float64(r.Score)
		s.Total += r.Score
		s.Steps += r.Steps
		if r.Ended {
			s.Deaths++
		}
	}
	s.Stopped = s.Games - s.Deaths
	s.Mean, s.PerDeath = MeanOf(scores), perEvent(s.Total, s.Deaths)
	slices.Sort(scores)
	s.Worst, s.Best = int(scores[0]), int(scores[len(scores)-1])
	s.Median = (scores[(len(scores)-1)/2] + scores[len(scores)/2]) / 2
	return s
}

// String is some lines of a table for people.
func (s RunStats) String() string {
	text := fmt.Sprintf(`  score     mean %.1f, 95 %% interval %.1f to %.1f; median %.1f, worst %d, best %d
  games     %d ended, %d stopped; %d choices
`, s.Mean.Value, s.Mean.Low, s.Mean.High, s.Median, s.Worst, s.Best, s.Deaths, s.Stopped, s.Steps)
	if s.Deaths == 0 {
		return text + fmt.Sprintf("  per end   none in a score of %d: above %.0f at 95 %%\n", s.Total, s.PerDeath.Low)
	}
	return text + fmt.Sprintf("  per end   score %.0f, 95 %% interval %.0f to %.0f, as if an end came at any time alike\n",
		s.PerDeath.Value, s.PerDeath.Low, s.PerDeath.High)
}
