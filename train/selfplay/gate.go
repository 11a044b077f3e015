package selfplay

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"blockyard/agents/match"
)

const gateShare = 0.25 // the part of a budget of time that all gates together may take

// Progress is the share of the budget that is spent, 0 to 1. One of time includes the gates, also the last.
func (r *Run) Progress() float64 {
	if o := r.Options; o.For > 0 {
		last := r.gateTime()
		if c := r.Counts; c.LastGate > 0 {
			last = min(last, c.LastGate)
		}
		return min(1, float64(r.Counts.Spent+r.Counts.Gating)/float64(o.For-last))
	}
	return min(1, float64(r.Counts.Iterations)/float64(r.Options.Iterations))
}

// gateTime is how long a gate may take under a budget of time, 0 for no limit.
func (r *Run) gateTime() time.Duration {
	return time.Duration(gateShare * float64(r.Options.For) / float64(r.Options.Gates))
}

// LimitGate limits a match of a gate to a share of the gate's time, after which it ends with the units so far, the
// first at least. It reports the match's games to OnGate, as those that follow the first ones of all.
func (r *Run) LimitGate(
	ctx context.Context, m *match.Match, share float64, first, all int,
) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	limit, began := time.Duration(share*float64(r.gateTime())), r.now()
	m.Progress = func(games int, _ string) {
		if r.OnGate != nil {
			r.OnGate(first+games, all)
		}
		if limit > 0 && r.now().Sub(began) >= limit {
			stop()
		}
	}
	return ctx, stop
}

// GateDue reports whether the next part of the budget is spent and its net not gated yet.
func (r *Run) GateDue() bool { return r.Counts.Gated < r.gatesDue() }

func (r *Run) gatesDue() int {
	gates, p := r.Options.Gates, r.Progress()
	if p >= 1 {
		return gates
	}
	return min(gates-1, int(p*float64(r.Options.Lengths())+1e-9)) // the last stage may be a longer one
}

// Lengths is how many stages a run would have if all were as long as the first.
func (o *Options) Lengths() int { return o.Gates - 1 + max(1, o.LastStage) }

// StagePart returns how much of the stage since the last gate is over, 0 to 1, and how many times as long as the first
// it is.
func (r *Run) StagePart() (part float64, length int) {
	all, length := r.Options.Lengths(), 1
	if r.Counts.Gated >= r.Options.Gates-1 {
		length = all - (r.Options.Gates - 1)
	}
	gone := r.Progress()*float64(all) - float64(r.Counts.Gated)
	return min(1, max(0, gone/float64(length))), length
}

// Done reports whether the budget is spent and every gate passed.
func (r *Run) Done() bool { return r.Progress() >= 1 && !r.GateDue() }

// gate evaluates the net and keeps it if the algorithm says so. It is false if ctx ended before.
func (r *Run) gate(ctx context.Context) (bool, error) {
	began, c := r.now(), r.Counts
	p := Point{Iterations: c.Iterations, Rows: c.Rows, Loss: c.Loss, Seconds: c.Spent.Seconds(), CPU: c.CPU.Seconds()}
	if ok, err := r.Settings.Gate(ctx, r, &p); err != nil || !ok {
		return false, err
	}
	if p.Kept {
		r.Best = r.Net()
	}
	r.Curve = append(r.Curve, p)
	r.Counts.Gated++
	r.Counts.LastGate = r.now().Sub(began)
	r.Counts.Gating += r.Counts.LastGate
	if r.Options.For > 0 { // a gate that took longer than the next rollouts would have
		r.Counts.Gated = max(r.Counts.Gated, r.gatesDue())
	}
	return true, r.Learner.Gated()
}

// A Point is what one gate found: the strength of the network, and what the run had done until then.
type Point struct {
	Iterations int     `json:"iterations"`
	Rows       int     `json:"rows"`
	Loss       float64 `json:"loss"`
	Games      int     `json:"games,omitempty"`       // played for Score
	Score      float64 `json:"score,omitempty"`       // against the baseline, 0 to 1; for one seat points per game
	Low        float64 `json:"low,omitempty"`         // of its 95 % interval
	High       float64 `json:"high,omitempty"`        // 0 if there is no upper bound
	Against    string  `json:"against,omitempty"`     // the opponents of Score, if not the baseline
	VersusBest float64 `json:"versus_best,omitempty"` // against the best net so far; 0.5 if there was none
	Points     int     `json:"points,omitempty"`      // for one seat: points made in all games together
	Ends       int     `json:"ends,omitempty"`        // and games that ended before they were stopped
	PerGame    float64 `json:"per_game,omitempty"`    // all points over ends, one end at the least
	Kept       bool    `json:"kept"`                  // this net is now the best
	Seconds    float64 `json:"seconds"`               // of training so far
	CPU        float64 `json:"cpu,omitempty"`         // seconds of CPU time of training so far; 0 if not known
}

func (p Point) opponents() string { return cmp.Or(p.Against, "hand") }

// value returns the score and its interval, if any. Points per game are drawn as at least 1.
func (p Point) value() (y, low, high float64) {
	y, low, high = p.Score, p.Low, p.High
	if p.PerGame > 0 { // the axis may be logarithmic
		y, low = max(p.PerGame, 1), max(low, 1)
	}
	if high <= 0 {
		return y, y, y
	}
	return y, min(y, low), max(y, high)
}

// LastScore returns the score of the last gate in a few words, or that there was none yet.
func (r *Run) LastScore() string {
	if len(r.Curve) == 0 {
		return "no gate yet"
	}
	p := r.Curve[len(r.Curve)-1]
	if r.Game.Solo != nil {
		return fmt.Sprintf("%.0f points per game", p.PerGame)
	}
	return fmt.Sprintf("vs %s %.1f%%", p.opponents(), 100*p.Score)
}

// LastGate sums up the last gate, which there must be, in a line.
func (r *Run) LastGate() string {
	p := r.Curve[len(r.Curve)-1]
	text := fmt.Sprintf("gate %d of %d: %d games, %s rows, loss %.4f, ", r.Counts.Gated, r.Options.Gates,
		r.Counts.Games, thousands(p.Rows), p.Loss)
	if r.Game.Solo != nil {
		text += fmt.Sprintf("%d points in %d games, %d ended: %s", p.Points, p.Games, p.Ends, r.LastScore())
	} else {
		best := "no best yet"
		if len(r.Curve) > 1 {
			best = fmt.Sprintf("vs best %.1f%%", 100*p.VersusBest)
		}
		text += fmt.Sprintf("%s (%.1f to %.1f) of %d games, %s", r.LastScore(), 100*p.Low, 100*p.High, p.Games, best)
	}
	if p.Kept {
		text += "  kept"
	}
	return text
}

func thousands(n int) string {
	if n < 1e6 {
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
