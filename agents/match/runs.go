package match

import (
	"fmt"
	"slices"
)

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
	s.Mean, s.PerDeath = meanOf(scores), perEvent(s.Total, s.Deaths)
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
