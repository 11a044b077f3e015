package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/library"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// A seat is the agent of one game: it answers with what the library does, and counts how.
type seat struct {
	process *library.Process
	at      wintetris.Engine // the last position
	asked   time.Time        // when the library was asked last
	took    time.Duration    // for its answer
	Result
}

// A Result is the result of a game, which a library.Fault may have ended early.
type Result struct {
	Seed      uint64  `json:"seed,string"`
	Lines     int     `json:"lines"`
	Level     int     `json:"level"`
	Pieces    int     `json:"pieces"`
	Ticks     uint64  `json:"ticks"`
	Score     int64   `json:"score"`
	Conflicts int     `json:"conflicts"`
	Blocked   int     `json:"blocked"`
	Late      int     `json:"late"`    // ticks without an answer in time
	Hung      int     `json:"hung"`    // ticks in which the answer took longer than the level's tick lasts
	MeanMS    float64 `json:"mean_ms"` // per answer
	LongestMS float64 `json:"longest_ms"`
	Failures  int     `json:"failures"`        // negative answers
	Failure   string  `json:"failure"`         // the first of them
	End       string  `json:"end"`             // block out, lock out, conflict, capped, fault, stopped
	Fault     string  `json:"fault,omitempty"` // why the library's process ended
}

// Act implements env.Agent. Without an answer that counts, nothing is pressed.
func (s *seat) Act(ctx context.Context, state env.State, _ int) (env.Action, error) {
	s.at, s.asked = state.(*wintetris.State).Engine, time.Now()
	bits, err := s.process.Update(ctx, &s.at.Field, s.at.Piece, s.at.Upcoming(), s.at.New)
	var answer *library.Answer
	switch {
	case errors.Is(err, contest.ErrLate):
		s.Late++
	case errors.As(err, &answer):
		s.Failures++
		s.Failure = cmp.Or(s.Failure, answer.Error())
	case err != nil:
		return env.None, err
	}
	s.took = time.Since(s.asked)
	s.clock(s.took, s.at.Level())
	return env.Action(bits) & env.Action(wintetris.TickGame.Actions-1), nil
}

func (r *Result) clock(took time.Duration, level int) {
	ms := 1000 * took.Seconds()
	r.MeanMS += ms
	r.LongestMS = max(r.LongestMS, ms)
	if ms > wintetris.TickMS(level) {
		r.Hung++
	}
}

// finish completes the result by the last position.
func (s *seat) finish() {
	e := &s.at
	s.MeanMS /= float64(max(1, e.Ticks))
	s.Lines, s.Level, s.Pieces, s.Ticks = int(e.Lines), e.Level(), int(e.Pieces), e.Ticks
	s.Score, s.Conflicts, s.Blocked = e.Points, int(e.Conflicts), int(e.Blocked)
	s.End = e.Over.String()
}

// A Report is what the games of a library came to; agents/JSON.md describes it.
type Report struct {
	Plugin  string   `json:"plugin"`
	Options string   `json:"options"`
	Strict  bool     `json:"strict"`
	Stopped bool     `json:"stopped"` // before all games were played
	Faults  int      `json:"faults"`
	Lines   float64  `json:"mean_lines"`
	Games   []Result `json:"games"`
}

// Fault returns an error if the library's process failed in any game.
func (t *Report) Fault() error {
	for _, r := range t.Games {
		if r.Fault != "" {
			return fmt.Errorf("%s: %d of %d games ended by a fault, the first: %s", t.Plugin, t.Faults, len(t.Games), r.Fault)
		}
	}
	return nil
}

// String returns a row for each game, the reasons of faults and failures, and the mean.
func (t *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s %7s %6s %7s %9s %9s %8s %10s %10s %6s %6s %9s  %s\n", "seed", "lines", "level", "pieces",
		"score", "conflicts", "blocked", "ms a tick", "longest ms", "hung", "late", "failures", "end")
	for _, r := range t.Games {
		fmt.Fprintf(&b, "%8d %7d %6d %7d %9d %9d %8d %10.3f %10.2f %6d %6d %9d  %s\n", r.Seed, r.Lines, r.Level, r.Pieces,
			r.Score, r.Conflicts, r.Blocked, r.MeanMS, r.LongestMS, r.Hung, r.Late, r.Failures, r.End)
	}
	for _, r := range t.Games {
		for _, why := range []string{r.Failure, r.Fault} {
			if why != "" {
				fmt.Fprintf(&b, "seed %d: %s\n", r.Seed, why)
			}
		}
	}
	if len(t.Games) > 0 {
		fmt.Fprintf(&b, "%d games, %.1f lines on average\n", len(t.Games), t.Lines)
	}
	if t.Stopped {
		b.WriteString("stopped early\n")
	}
	return b.String()
}
