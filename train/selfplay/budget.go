package selfplay

import "context"

// Progress is the share of the budget that is spent, 0 to 1.
func (r *Run) Progress() float64 {
	if r.Config.For > 0 {
		return min(1, float64(r.Counts.Spent)/float64(r.Config.For))
	}
	return min(1, float64(r.Counts.Iterations)/float64(r.Config.Iterations))
}

// GateDue reports whether the next share of the budget is spent and its net not gated.
func (r *Run) GateDue() bool {
	return r.Counts.Gated < int(r.Progress()*float64(r.Config.Gates)+1e-9)
}

// Done reports whether the budget is spent and every gate passed through.
func (r *Run) Done() bool { return r.Progress() >= 1 && !r.GateDue() }

// Go steps and gates until the budget is spent or ctx ends; then its error is nil and the
// run can be saved and resumed. after, if set, is called after each step and each gate.
func (r *Run) Go(ctx context.Context, after func(gated bool) error) error {
	for !r.Done() {
		if ctx.Err() != nil {
			return nil
		}
		gated := r.GateDue()
		if gated {
			if ok, err := r.gate(ctx); err != nil || !ok {
				return err
			}
		} else if err := r.Step(); err != nil {
			return err
		}
		if after != nil {
			if err := after(gated); err != nil {
				return err
			}
		}
	}
	return nil
}
