package search

import (
	"context"
	"math"

	"blockyard/env"
)

// Rollouts is an Expectimax that tries its best first actions in rollouts where a game is about to be decided. In a
// rollout both seats play on, at most 30 rounds, each the action that is best at one ply. What counts is who wins. An
// Expectimax does not see what the opponent does meanwhile, however deep it is; a policy of one ply sees little else of
// what is to come, so that quiet positions are better left to the search.
//
// A first action is played in place of the one that the search prefers if it is better in the rollouts beyond doubt:
// what is a little better in them is mostly luck. Rollout number k has the same draws after every action, so that some
// of the luck cancels. The number of rollouts depends on the position: few are needed where no action gets ahead.
//
// When the time is up, the rollouts so far decide, or the search if they are too few.
type Rollouts struct {
	Expectimax
	critical func(s env.State) bool
	most     int
	start    env.State
	rivals   []rival // first actions of the decision, the search's choice first
}

// A rival is a first action and the chances of winning after each of its rollouts: 0, 0.5 or 1.
type rival struct {
	action  env.Action
	results []float32
}

const (
	rivals = 4  // first actions that are tried, at most
	rounds = 30 // of a rollout, at most; what is not over then is a draw
	batch  = 49 // rollouts of each action between two looks at the results: every pair of two draws of seven pieces
	ahead  = 1  // standard errors by which an action must be better than the search's choice to be tried further
	beyond = 3  // and to be played
)

// RolloutsMemory is what each rollout of a decision takes, in bytes.
const RolloutsMemory = 4 * rivals

// NewRollouts returns one that x becomes, for a game of two who act at once. It tries each action in up to most ≥ 1
// rollouts where critical says so of the position, which it must not change or keep.
func NewRollouts(x *Expectimax, critical func(s env.State) bool, most int) *Rollouts {
	r := &Rollouts{Expectimax: *x, critical: critical, most: most, start: x.deep.game.New(2)}
	for len(r.rivals) < rivals {
		r.rivals = append(r.rivals, rival{results: make([]float32, 0, most)})
	}
	return r
}

// Act implements env.Agent. At the deadline of ctx, the rollouts that were played decide.
func (r *Rollouts) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	r.start.CopyFrom(s)
	a, err := r.Expectimax.Act(ctx, s, seat)
	if err != nil || r.value < -Limit || r.value > Limit || !r.critical(r.start) {
		return a, err
	}
	list := r.invite(a)
	for k := 1; k <= r.most && len(list) > 1 && !r.clock.Up(); k++ {
		for i := range list {
			list[i].results = append(list[i].results, r.play(seat, list[i].action, k))
		}
		if k%batch == 0 || k == r.most {
			list = compare(list)
		}
	}
	return list[0].action, nil
}

// invite returns the actions to try: a, which the search has chosen, and the best others at two plies.
func (r *Rollouts) invite(a env.Action) []rival {
	n := 1
	r.rivals[0].action = a
	for k, p := range r.two.pairs.list {
		if b := r.two.root.legal[p.first]; b != a && n < rivals && r.two.pairs.leads(k) {
			r.rivals[n].action = b
			n++
		}
	}
	for i := range r.rivals {
		r.rivals[i].results = r.rivals[i].results[:0]
	}
	return r.rivals[:n]
}

// compare leaves out the actions that are not ahead of the first. If one is so beyond doubt, it alone stays.
func compare(list []rival) []rival {
	kept, best, most := 1, 0, float64(beyond)
	for i := 1; i < len(list); i++ {
		z := surplus(list[i].results, list[0].results)
		if z < ahead {
			continue
		}
		list[kept], list[i] = list[i], list[kept]
		if z > most {
			best, most = kept, z
		}
		kept++
	}
	if best > 0 {
		list[0], list[best] = list[best], list[0]
		kept = 1
	}
	return list[:kept]
}

// surplus returns by how many standard errors a is better than b on average, pair by pair.
func surplus(a, b []float32) float64 {
	const least = 1e-6 // a variance that is not 0
	var sum, squares float64
	for i := range a {
		d := float64(a[i] - b[i])
		sum += d
		squares += d * d
	}
	n := float64(len(a))
	mean := sum / n
	return mean / math.Sqrt((squares/n-mean*mean+least)/n)
}

// play returns the chance that seat wins after rollout k ≥ 1 of a.
func (r *Rollouts) play(seat int, a env.Action, k int) float32 {
	s, deal := r.mid, k
	s.CopyFrom(r.start)
	for round := 0; round < rounds && s.Acting() != 0; round++ {
		m := env.NoMoves
		for at := 0; at < 2; at++ {
			if m[at] = a; round > 0 || at != seat {
				r.end.CopyFrom(s)
				r.deep.leaves(r.two.eval, r.end, at, 1)
				m[at] = r.deep.legal[r.deep.best()]
			}
		}
		s.Hide(1<<2-1, uint64(k*rounds+round))
		forced := 0
		if round < 2 {
			r.draw[0][0], deal, forced = uint16(deal%r.outcomes), deal/r.outcomes, 1
		}
		s.Force(r.draw[0][:forced])
		s.Step(m)
	}
	return (1 + s.Result(seat)) / 2
}
