package commands

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"blockyard/datasets/program"
	"blockyard/datasets/program/ops"
	"blockyard/train/selfplay"
)

// A progress shows a run: as a bar on a terminal, otherwise as a log line now and then.
type progress struct {
	run     *selfplay.Run
	out     io.Writer
	bar     program.Bar // empty without a terminal
	log     *slog.Logger
	start   time.Time
	printed time.Time // of the last line
	began   selfplay.Counts
	now     func() time.Time
	workers func() string // what each worker process has done; "" without a cluster
}

const barSteps = 10000

// newProgress shows run on out. bar allows a bar, if out is a terminal; log writes to out.
func newProgress(run *selfplay.Run, out io.Writer, log *slog.Logger, bar bool) *progress {
	p := &progress{run: run, out: out, log: log, began: run.Counts, start: time.Now(), printed: time.Now(), now: time.Now,
		workers: func() string { return "" }}
	if bar && program.Terminal(out) {
		p.bar = program.NewBar(out, false, barSteps, "")
	}
	run.OnGate = func(done, of int) {
		most := ""
		if run.Options.For > 0 {
			most = "up to "
		}
		p.show(fmt.Sprintf("gate %d of %d: %d of %s%d games", run.Counts.Gated+1, run.Options.Gates, done, most, of),
			"gate is played", "gate", run.Counts.Gated+1, "gates", run.Options.Gates, "games", done, "of_games", of)
	}
	return p
}

// after shows the run after a step or a gate. A gate leaves a line.
func (p *progress) after(gated bool) {
	if gated {
		p.gated()
	}
	if p.run.Counts.Iterations < p.began.Iterations { // it has returned
		p.began = p.run.Counts
	}
	c, b := p.run.Counts, p.began
	if s := (c.Spent - b.Spent).Seconds(); s > 0 {
		games, positions := float64(c.Games-b.Games)/s, float64(c.Moves-b.Moves)/s
		visited, score := float64(c.Visited-b.Visited)/s, p.run.LastScore()
		stage := p.run.Settings.Stage(p.run)
		text := fmt.Sprintf("%s: %s  loss %.4f  %.0f games/s  %.1fk positions/s  %.2fM evaluations/s",
			stage, score, c.Loss, games, positions/1e3, visited/1e6) // the first counts most: a terminal may be narrow
		attributes := []any{"stage", stage, "games_per_second", games, "positions_per_second", positions,
			"evaluations_per_second", visited, "loss", c.Loss, "score", score}
		if workers := p.workers(); workers != "" {
			text, attributes = text+"  "+workers, append(attributes, "workers", workers)
		}
		p.show(text, "training", attributes...)
	}
}

func (p *progress) gated() {
	p.clear()
	p.printed = p.now()
	if p.bar.ProgressBar != nil {
		fmt.Fprintln(p.out, p.run.LastGate())
		return
	}
	c, g := p.run.Counts, p.run.Curve[len(p.run.Curve)-1]
	p.log.Info("gate", rounded([]any{"gate", c.Gated, "gates", p.run.Options.Gates, "games", c.Games, "samples", g.Rows,
		"loss", g.Loss, "kept", g.Kept, "result", p.run.LastGate()})...)
}

// rounded rounds the attributes that are float64 to four significant digits.
func rounded(attributes []any) []any {
	for k, v := range attributes {
		if x, ok := v.(float64); ok {
			attributes[k], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64) // it reads what was just written
		}
	}
	return attributes
}

// show updates the bar with a text, or logs a line if the last one is a while ago.
func (p *progress) show(text, msg string, attributes ...any) {
	if p.bar.ProgressBar != nil {
		p.bar.Show(min(int(p.run.Progress()*barSteps), barSteps-1), text) // a full bar could not be cleared
		return
	}
	now := p.now()
	if every := min(max(now.Sub(p.start)/10, 10*time.Second), 5*time.Minute); now.Sub(p.printed) >= every {
		p.printed = now
		p.log.Info(msg, rounded(append([]any{"progress", p.run.Progress()}, attributes...))...)
	}
}

func (p *progress) clear() {
	if p.bar.ProgressBar != nil {
		_ = p.bar.Clear() // a terminal that cannot be written to
	}
}

// A monitor publishes a run for operators. The run's goroutine calls after; scrapes read the last snapshot.
type monitor struct {
	run  *selfplay.Run
	last atomic.Pointer[snapshot]

	window selfplay.Counts // at the start of the window over which speed is measured
	speed  float64         // games per second in the last window
}

// A snapshot is a run between two steps.
type snapshot struct {
	selfplay.Run
	speed float64 // games per second in the last window
}

const speedWindow = 5 * time.Second // the training time over which the speed is measured

func newMonitor(run *selfplay.Run) *monitor {
	m := &monitor{run: run, window: run.Counts}
	m.after()
	return m
}

// after publishes the run as it is after a step or a gate.
func (m *monitor) after() {
	r := m.run
	if spent := r.Counts.Spent - m.window.Spent; spent.Abs() >= speedWindow { // below 0 if the run has returned
		m.speed = float64(r.Counts.Games-m.window.Games) / spent.Seconds()
		m.window = r.Counts
	}
	m.last.Store(&snapshot{*r, m.speed}) // the gates of its curve never change
}

func (m *monitor) metrics() ops.Collector {
	return ops.Metrics("blockyard_train_", func(a *ops.Scrape) {
		s, kept, g := m.last.Load(), 0, selfplay.Point{}
		for _, g = range s.Curve {
			if g.Kept {
				kept++
			}
		}
		a.Add("iterations_total", "Rollouts played and learned from.", s.Counts.Iterations)
		a.Add("games_total", "Games of self-play that ended.", s.Counts.Games)
		a.Add("choices_total", "Choices made in self-play.", s.Counts.Moves)
		a.Add("samples_total", "Samples learned from.", s.Counts.Rows)
		a.Add("evaluations_total", "Positions that self-play evaluated.", s.Counts.Visited)
		a.Add("play_seconds_total", "Wall-clock time of self-play in this process.", s.Played)
		a.Add("fit_seconds_total", "Wall-clock time of fitting nets in this process: the learner's share.", s.Fitted)
		a.Add("gate_seconds_total", "Wall-clock time of gates.", s.Counts.Gating)
		a.Add("gates_total", "Gates passed.", s.Counts.Gated)
		a.Add("kept_gates_total", "Gates whose net became the best one.", kept)
		a.Add("progress_ratio", "Share of the budget that is spent.", s.Progress())
		a.Add("loss", "Loss of the last rollout, without a unit.", s.Counts.Loss)
		a.Add("games_per_second", "Games of self-play per second of training, over the last five seconds or more.", s.speed)
		switch {
		case len(s.Curve) == 0:
		case s.Game.Solo != nil: // the game has one seat
			a.Add("gate_points", "Points per game at the last gate, in games of one seat.", g.PerGame)
		default:
			a.Add("gate_score_ratio", "Score of the last gate against the baseline, 0 to 1.", g.Score)
			a.Add("gate_low_score_ratio", "Lower end of the 95 % interval of the score.", g.Low)
			a.Add("gate_high_score_ratio", "Upper end of the 95 % interval of the score.", g.High)
			a.Add("gate_versus_best_ratio", "Score of the last gate against the best net before it, 0 to 1.", g.VersusBest)
		}
	})
}
