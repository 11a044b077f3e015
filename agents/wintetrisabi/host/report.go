package host

import (
	"context"
	"fmt"
	"strings"
)

// A Report is the result of a library's games.
type Report struct {
	Plugin  string   `json:"plugin"`
	Options string   `json:"options"`
	Strict  bool     `json:"strict"`
	Stopped bool     `json:"stopped"` // before all games were played
	Faults  int      `json:"faults"`
	Lines   float64  `json:"mean_lines"`
	Games   []Result `json:"games"`
}

// PlayAll plays n games with the seeds from first on and calls done after each. It ends early
// with ctx, which is no error. The error says why not even the first game could begin; a
// library that cannot be opened again for a later game has a Fault in that game.
func (p *Player) PlayAll(ctx context.Context, first uint64, n int, done func(games int)) (*Report, error) {
	out := &Report{Plugin: p.Config.File, Options: p.Options, Strict: p.Strict}
	for i := range n {
		r, err := p.Play(ctx, first+uint64(i))
		if ctx.Err() != nil {
			out.Stopped = true
			break
		}
		if err != nil && i == 0 {
			return nil, fmt.Errorf("%s: %w", p.Config.File, err)
		} else if err != nil {
			r.End, r.Fault = "fault", err.Error()
		}
		out.Games = append(out.Games, r)
		done(i + 1)
	}
	for _, r := range out.Games {
		out.Lines += float64(r.Lines) / float64(len(out.Games))
		if r.Fault != "" {
			out.Faults++
		}
	}
	return out, nil
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

// String is a table for people.
func (t *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s %7s %6s %7s %9s %9s %8s %6s %9s  %s\n",
		"seed", "lines", "level", "pieces", "score", "conflicts", "blocked", "late", "failures", "end")
	for _, r := range t.Games {
		fmt.Fprintf(&b, "%8d %7d %6d %7d %9d %9d %8d %6d %9d  %s\n",
			r.Seed, r.Lines, r.Level, r.Pieces, r.Score, r.Conflicts, r.Blocked, r.Late, r.Failures, r.End)
	}
	for _, r := range t.Games {
		if r.Failure != "" {
			fmt.Fprintf(&b, "seed %d: %s\n", r.Seed, r.Failure)
		}
		if r.Fault != "" {
			fmt.Fprintf(&b, "seed %d: %s\n", r.Seed, r.Fault)
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
