package phases

import "math"

// opinion is the chance of winning that goes with the baseline evaluator's worth.
func (l *lambdaLearner) opinion(worth float32) float32 {
	return odds(worth * float32(l.run.Counts.Scale))
}

// rescale fits Counts.Scale to the results of the games that the baseline played: the most
// likely factor for this rollout, averaged over rollouts.
func (l *lambdaLearner) rescale() {
	counts := &l.run.Counts
	scale := counts.Scale
	for range 8 { // Newton's method on the logistic loss
		slope, bend := 0.0, 1e-9
		for slot := range l.notes.paths {
			for seat := range l.notes.paths[slot] {
				slopes(&l.notes.paths[slot][seat], scale, &slope, &bend)
			}
		}
		scale -= min(max(slope/bend, -1), 1)
	}
	if scale > 0 && !math.IsInf(scale, 0) {
		counts.Scale += (scale - counts.Scale) / float64(1+min(counts.Iterations, 50))
	}
}

// slopes adds the first and second derivative of the loss by scale over a path's steps
// whose game has ended.
func slopes(p *seatPath, scale float64, slope, bend *float64) {
	targets := make([]float32, len(p.Steps))
	returns(p.Steps, 1, targets)
	known := false
	for i := len(p.Steps) - 1; i >= 0; i-- {
		known = known || p.Steps[i].Ended
		if !known || targets[i] != targets[i] {
			continue
		}
		w := float64(p.Steps[i].worth)
		q := 1 / (1 + math.Exp(-scale*w))
		*slope += w * (q - float64(targets[i]))
		*bend += w * w * q * (1 - q)
	}
}
