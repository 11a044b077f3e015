package selfplay

import "math"

// collect turns the paths of all slots into rows with targets. In a warm start targets
// are in part what the hand-tuned evaluator thinks, put on the scale of log odds.
func (r *Run) collect(d deal) {
	r.rows.Cut(0)
	if r.actor != nil {
		r.actor.clear()
	}
	warm := d.warm && r.Game.Worth != nil
	if warm {
		r.rescale()
	}
	for _, s := range r.slots {
		r.Counts.Games += s.ended
		r.Counts.Moves += s.moves
		for seat := range s.paths {
			p := &s.paths[seat]
			r.learn(p, warm)
			r.rows.X = append(r.rows.X, p.otherX...)
			for _, w := range p.otherWorth {
				r.rows.Y = append(r.rows.Y, r.opinion(w))
			}
		}
	}
	if r.actor != nil {
		r.actor.aim(float32(r.Config.Step))
	}
}

// learn appends the rows of a path.
func (r *Run) learn(p *path, warm bool) {
	k, n := len(p.steps), len(r.Game.Features)
	if k == 0 {
		return
	}
	values, targets := make([]float32, k), make([]float32, k)
	r.net.Forward(p.x, k, values)
	for i := range p.steps {
		p.steps[i].value = odds(values[i])
	}
	returns(p.steps, r.Config.Lambda, targets)
	if r.actor != nil {
		r.actor.add(p, targets)
	}
	share := float32(r.Config.Imitate)
	for i, y := range targets {
		if y != y { // nothing is known
			continue
		}
		if warm {
			y += share * (r.opinion(p.steps[i].worth) - y)
		}
		r.rows.X, r.rows.Y = append(r.rows.X, p.x[i*n:(i+1)*n]...), append(r.rows.Y, y)
	}
}

// opinion is the chance of winning that goes with a worth.
func (r *Run) opinion(worth float32) float32 { return odds(worth * float32(r.Counts.Scale)) }

// rescale fits Scale to the results of the games played by the hand-tuned evaluator: the
// most likely factor for this stretch, averaged over stretches.
func (r *Run) rescale() {
	scale := r.Counts.Scale
	for range 8 { // Newton's method on the logistic loss
		slope, bend := 0.0, 1e-9
		for _, s := range r.slots {
			for seat := range s.paths {
				r.slopes(&s.paths[seat], scale, &slope, &bend)
			}
		}
		scale -= min(max(slope/bend, -1), 1)
	}
	if scale > 0 && !math.IsInf(scale, 0) {
		r.Counts.Scale += (scale - r.Counts.Scale) / float64(1+min(r.Counts.Iterations, 50))
	}
}

// slopes adds the first and second derivative of the loss by scale over a path's steps
// whose game has ended.
func (r *Run) slopes(p *path, scale float64, slope, bend *float64) {
	targets := make([]float32, len(p.steps))
	returns(p.steps, 1, targets)
	known := false
	for i := len(p.steps) - 1; i >= 0; i-- {
		known = known || p.steps[i].kind == ended
		if !known || targets[i] != targets[i] {
			continue
		}
		w := float64(p.steps[i].worth)
		q := 1 / (1 + math.Exp(-scale*w))
		*slope += w * (q - float64(targets[i]))
		*bend += w * w * q * (1 - q)
	}
}
