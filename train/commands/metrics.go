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
	s := &snapshot{Counts: r.Counts, played: r.Played, fitted: r.Fitted, progress: r.Progress(), speed: m.speed}
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
	return ops.Metrics("blockyard_train_", func(a *ops.Scrape) {
		s := m.last.Load()
		a.Add("iterations_total", "Rollouts played and learned from.", s.Iterations)
		a.Add("games_total", "Games of self-play that ended.", s.Games)
		a.Add("choices_total", "Choices made in self-play.", s.Moves)
		a.Add("samples_total", "Samples learned from.", s.Rows)
		a.Add("evaluations_total", "Positions that self-play evaluated.", s.Visited)
		a.Add("play_seconds_total", "Wall-clock time of self-play in this process.", s.played)
		a.Add("fit_seconds_total", "Wall-clock time of fitting nets in this process: the learner's share.", s.fitted)
		a.Add("gate_seconds_total", "Wall-clock time of gates.", s.Gating)
		a.Add("gates_total", "Gates passed.", s.Gated)
		a.Add("kept_gates_total", "Gates whose net became the best one.", s.kept)
		a.Add("progress_ratio", "Share of the budget that is spent.", s.progress)
		a.Add("loss", "Loss of the last rollout, without a unit.", s.Loss)
		a.Add("games_per_second", "Games of self-play per second of training, over the last five seconds or more.",
			s.speed)
		switch g := s.gate; {
		case g == nil:
		case m.run.Game.Solo != nil: // the game has one seat
			a.Add("gate_points", "Points per game at the last gate, in games of one seat.", g.PerGame)
		default:
			a.Add("gate_score_ratio", "Score of the last gate against the baseline, 0 to 1.", g.Score)
			a.Add("gate_low_score_ratio", "Lower end of the 95 % interval of the score.", g.Low)
			a.Add("gate_high_score_ratio", "Upper end of the 95 % interval of the score.", g.High)
			a.Add("gate_versus_best_ratio", "Score of the last gate against the best net before it, 0 to 1.",
				g.VersusBest)
		}
	})
}
