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
	"blockyard/env/wintetris"
)

// A Player plays games with a library, in a new process after a library.Fault. Close it. It is not for concurrent use.
type Player struct {
	Config  library.Config
	Options string
	Strict  bool // a conflict loses the game
	Cap     int  // a game stops after this many lines; 0 for no limit
	// Each, if set, is called in every tick with the position, the bits that are about to be played, and how long
	// the library took for them. An error ends the game with that error.
	Each    func(ctx context.Context, e *wintetris.Engine, b wintetris.Bits, took time.Duration) error
	process *library.Process
}

// A Result is the result of a game, which a Fault may have ended early.
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

// Play plays one game. The error is that of ctx, with the result so far, or says why no game
// could begin: the library does not load or refuses the options.
func (p *Player) Play(ctx context.Context, seed uint64) (Result, error) {
	if err := p.open(ctx); err != nil {
		return Result{Seed: seed}, err
	}
	e := wintetris.Engine{Strict: p.Strict}
	e.Start(seed)
	r := Result{Seed: seed}
	var stop error
	for e.Over == wintetris.Running && stop == nil && (p.Cap == 0 || int(e.Lines) < p.Cap) {
		stop = p.tick(ctx, &e, &r)
	}
	if e.Ticks > 0 {
		r.MeanMS /= float64(e.Ticks)
	}
	r.Lines, r.Level, r.Pieces, r.Ticks = int(e.Lines), e.Level(), int(e.Pieces), e.Ticks
	r.Score, r.Conflicts, r.Blocked = e.Points, int(e.Conflicts), int(e.Blocked)
	r.End = e.Over.String()
	var fault *library.Fault
	switch {
	case errors.As(stop, &fault):
		r.End, r.Fault = "fault", fault.Why
		return r, nil
	case stop != nil:
		r.End = "stopped"
	case e.Over == wintetris.Running:
		r.End = "capped"
	}
	return r, stop
}

func (p *Player) tick(ctx context.Context, e *wintetris.Engine, r *Result) error {
	asked := time.Now()
	bits, err := p.process.Update(ctx, &e.Field, e.Piece, e.Upcoming(), e.New)
	var answer *library.Answer
	switch {
	case errors.Is(err, contest.ErrLate):
		r.Late++
	case errors.As(err, &answer):
		r.Failures++
		r.Failure = cmp.Or(r.Failure, answer.Error())
	case err != nil:
		return err
	}
	took := time.Since(asked)
	r.clock(took, e.Level())
	if p.Each != nil {
		if err := p.Each(ctx, e, bits, took); err != nil {
			return err
		}
	}
	e.Tick(bits)
	return nil
}

func (r *Result) clock(took time.Duration, level int) {
	ms := 1000 * took.Seconds()
	r.MeanMS += ms
	r.LongestMS = max(r.LongestMS, ms)
	if ms > wintetris.TickMS(level) {
		r.Hung++
	}
}

// open opens a solver, in a new process if there is none that works.
func (p *Player) open(ctx context.Context) (err error) {
	if p.process != nil {
		if err = p.process.Open(ctx, p.Options); !errors.As(err, new(*library.Fault)) {
			return err
		}
	}
	if p.process, err = library.Start(ctx, p.Config); err != nil {
		return err
	}
	return p.process.Open(ctx, p.Options)
}

func (p *Player) Close() error {
	if p.process == nil {
		return nil
	}
	return p.process.Close()
}

type Report struct {
	Plugin  string   `json:"plugin"`
	Options string   `json:"options"`
	Strict  bool     `json:"strict"`
	Stopped bool     `json:"stopped"` // before all games were played
	Faults  int      `json:"faults"`
	Lines   float64  `json:"mean_lines"`
	Games   []Result `json:"games"`
}

// PlayAll plays n games with the seeds from first on and calls done after each. If ctx ends, it returns the games so
// far without an error. The error says why the first game could not begin; if a later one cannot, that is its Fault.
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
