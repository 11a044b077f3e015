package commands

import (
	"sync/atomic"
	"time"

	"blockyard/datasets/program/ops"
	"blockyard/train/selfplay"
)

// A monitor publishes a run for operators. The run's goroutine calls after; scrapes read the last snapshot.
type monitor struct {
	run  *selfplay.Run
	last atomic.Pointer[snapshot]

	window selfplay.Counts // at the start of the window over which speed is measured
	speed  float64         // games per second in the last window
}

// A snapshot is what scrapes show of a run.
type snapshot struct {
	selfplay.Counts
	played, fitted time.Duration // in this process
	progress       float64
	speed          float64
	gate           *selfplay.Point // the last one; nil before the first
	kept           int             // gates whose net became the best
	solo           bool            // the game has one seat
}

// speedWindow is the training time over which the speed is measured.
const speedWindow = 5 * time.Second

func newMonitor(run *selfplay.Run) *monitor {
	m := &monitor{run: run, window: run.Counts}
	m.after()
	return m
}

// after publishes the run as it is after a step or a gate.
func (m *monitor) after() {
	r := m.run
	if spent := r.Counts.Spent - m.window.Spent; spent >= speedWindow {
		m.speed = float64(r.Counts.Games-m.window.Games) / spent.Seconds()
		m.window = r.Counts
	}
	s := &snapshot{Counts: r.Counts, played: r.Played, fitted: r.Fitted, progress: r.Progress(), speed: m.speed,
		solo: r.Game.Solo != nil}
	for k := range r.Curve {
		s.gate = &r.Curve[k] // gates never change
		if s.gate.Kept {
			s.kept++
		}
	}
	m.last.Store(s)
}

// metrics are the run as Prometheus reads it.
func (m *monitor) metrics() ops.Collector {
	s := ops.NewSet(func() snapshot { return *m.last.Load() })
	counter := func(name, help string, value func(*snapshot) float64) {
		s.Counter("blockyard_train_"+name, help, value)
	}
	counter("iterations_total", "Rollouts played and learned from.",
		func(s *snapshot) float64 { return float64(s.Iterations) })
	counter("games_total", "Games of self-play that ended.", func(s *snapshot) float64 { return float64(s.Games) })
	counter("choices_total", "Choices made in self-play.", func(s *snapshot) float64 { return float64(s.Moves) })
	counter("samples_total", "Samples learned from.", func(s *snapshot) float64 { return float64(s.Rows) })
	counter("evaluations_total", "Positions that self-play evaluated.",
		func(s *snapshot) float64 { return float64(s.Visited) })
	counter("play_seconds_total", "Wall-clock time of self-play in this process.",
		func(s *snapshot) float64 { return s.played.Seconds() })
	counter("fit_seconds_total", "Wall-clock time of fitting nets in this process: the learner's share.",
		func(s *snapshot) float64 { return s.fitted.Seconds() })
	counter("gate_seconds_total", "Wall-clock time of gates.", func(s *snapshot) float64 { return s.Gating.Seconds() })
	counter("gates_total", "Gates passed.", func(s *snapshot) float64 { return float64(s.Gated) })
	counter("kept_gates_total", "Gates whose net became the best one.",
		func(s *snapshot) float64 { return float64(s.kept) })
	gauge := func(name, help string, value func(*snapshot) float64) {
		s.Gauge("blockyard_train_"+name, help, value)
	}
	gauge("progress_ratio", "Share of the budget that is spent.", func(s *snapshot) float64 { return s.progress })
	gauge("loss", "Loss of the last rollout, without a unit.", func(s *snapshot) float64 { return s.Loss })
	gauge("games_per_second", "Games of self-play per second of training, over the last five seconds or more.",
		func(s *snapshot) float64 { return s.speed })
	addGate(s)
	return s
}

// addGate adds the scores of the last gate, which exist after the first.
func addGate(s *ops.Set[snapshot]) {
	add := func(name, help string, solo bool, value func(*selfplay.Point) float64) {
		s.Gauges("blockyard_train_gate_"+name, help, nil, func(s *snapshot) []ops.Sample {
			if s.gate == nil || s.solo != solo {
				return nil
			}
			return []ops.Sample{{Value: value(s.gate)}}
		})
	}
	add("score_ratio", "Score of the last gate against the baseline, 0 to 1.", false,
		func(p *selfplay.Point) float64 { return p.Score })
	add("low_score_ratio", "Lower end of the 95 % interval of the score.", false,
		func(p *selfplay.Point) float64 { return p.Low })
	add("high_score_ratio", "Upper end of the 95 % interval of the score.", false,
		func(p *selfplay.Point) float64 { return p.High })
	add("versus_best_ratio", "Score of the last gate against the best net before it, 0 to 1.", false,
		func(p *selfplay.Point) float64 { return p.VersusBest })
	add("points", "Points per game at the last gate, in games of one seat.", true,
		func(p *selfplay.Point) float64 { return p.PerGame })
}
