package phases

// collect turns the paths of all slots into rows with targets. visit, if not nil, is
// called for each path with the λ-returns of its steps, NaN where nothing is known.
func (l *lambdaLearner) collect(visit func(slot, seat int, p *seatPath, returns []float32)) {
	l.Rows.Cut(0)
	warm := l.warm() && l.run.Game.Worth != nil
	if warm {
		l.rescale()
	}
	for slot := range l.notes.paths {
		for seat := range l.notes.paths[slot] {
			p := &l.notes.paths[slot][seat]
			if len(p.Steps) > 0 {
				targets := l.targets(p)
				if visit != nil {
					visit(slot, seat, p, targets)
				}
				l.add(p, targets, warm)
			}
			l.Rows.X = append(l.Rows.X, p.otherX...)
			for _, w := range p.otherWorth {
				l.Rows.Y = append(l.Rows.Y, l.opinion(w))
			}
		}
	}
}

// targets has the mean net evaluate a path's steps and returns their λ-returns.
func (l *lambdaLearner) targets(p *seatPath) []float32 {
	values, targets := make([]float32, len(p.Steps)), make([]float32, len(p.Steps))
	l.Mean.Forward(p.X, len(p.Steps), values)
	for i := range p.Steps {
		p.Steps[i].Value = odds(values[i])
	}
	returns(p.Steps, l.config.Lambda, targets)
	return targets
}

// add appends the rows of a path.
func (l *lambdaLearner) add(p *seatPath, targets []float32, warm bool) {
	n, share := len(l.run.Game.Features), float32(l.config.Imitate)
	for i, y := range targets {
		if y != y { // nothing is known
			continue
		}
		if warm {
			y += share * (l.opinion(p.Steps[i].worth) - y)
		}
		l.Rows.X, l.Rows.Y = append(l.Rows.X, p.X[i*n:(i+1)*n]...), append(l.Rows.Y, y)
	}
}
