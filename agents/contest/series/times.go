package series

import (
	"time"

	"blockyard/agents/contest"
)

// Times says how long a bot took for its answers.
type Times struct {
	MeanMS float64 `json:"mean_ms"`
	MostMS float64 `json:"longest_ms"`

	used    time.Duration
	answers int
}

// TimesOf returns the times of a number of answers that took used in all and longest at most.
func TimesOf(used, longest time.Duration, answers int) Times {
	t := Times{MostMS: longest.Seconds() * 1000, used: used, answers: answers}
	if answers > 0 {
		t.MeanMS = used.Seconds() * 1000 / float64(answers)
	}
	return t
}

// Add adds the times of more answers.
func (t *Times) Add(more Times) {
	most := max(t.MostMS, more.MostMS)
	*t = TimesOf(t.used+more.used, 0, t.answers+more.answers)
	t.MostMS = most
}

// add adds the answers of one game.
func (t *Times) add(g contest.Tally) { t.Add(TimesOf(g.Used, g.Longest, g.Answers)) }
