package selfplay

import (
	"context"
	"time"
)

// gateShare is the part of a budget of time that all gates together may take.
const gateShare = 0.25

// Progress is the share of the budget that is spent, 0 to 1. A budget of time includes the
// gates, and the last gate begins early enough to end with it.
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

// GateTimer returns a function that reports whether the given part of a gate's time has
// passed since. Without a budget of time that never happens.
func (r *Run) GateTimer(part float64) (over func() bool) {
	limit, began := time.Duration(part*float64(r.gateTime())), r.now()
	return func() bool { return limit > 0 && r.now().Sub(began) >= limit }
}

// GateDue reports whether the next part of the budget is spent and its net not gated yet.
func (r *Run) GateDue() bool { return r.Counts.Gated < r.gatesDue() }

func (r *Run) gatesDue() int { return int(r.Progress()*float64(r.Options.Gates) + 1e-9) }

// Done reports whether the budget is spent and every gate passed.
func (r *Run) Done() bool { return r.Progress() >= 1 && !r.GateDue() }

// gate evaluates the net and keeps it if the algorithm says so. It returns false, and
// changes nothing, if ctx ended before the result was there.
func (r *Run) gate(ctx context.Context) (bool, error) {
	began, c := r.now(), r.Counts
	p := Point{Iterations: c.Iterations, Rows: c.Rows, Loss: c.Loss, Seconds: c.Spent.Seconds()}
	if ok, err := r.algorithm.Gate(ctx, r, &p); err != nil || !ok {
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
