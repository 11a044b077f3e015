package search

import (
	"context"
	"fmt"
	"math"

	"blockyard/env"
)

// Rollouts is an agent that tries the best first actions of another search in rollouts: all seats play on for a few
// rounds, each the action that is best at one ply, and the evaluator says who is ahead then. A search of own actions
// does not see what the others do meanwhile, however deep it is: what a row that is sent now does to them, or what
// theirs do.
//
// A first action is played in place of the one that the search prefers if it is better in the rollouts beyond doubt:
// what is a little better in them is mostly luck. Rollout number k has the same draws after every action, so that some
// of the luck cancels. The number of rollouts depends on the position: few are needed where no action gets ahead.
//
// When the time is up, the rollouts so far decide, or the search if they are too few.
type Rollouts struct {
	inner    planner
	policy   Greedy
	odds     float32
	most     int // rollouts of an action
	outcomes int // of the draws that are dealt evenly to the rollouts; 0 if there are none
	seats    env.Seats

	start, state, view env.State
	rivals             []rival // of the decision, the search's choice first
	pool               [rivalsMost]rival
	one                [1]env.State
	value              [2]float32
	draw               [1]uint16
}

// A planner is a search that keeps what it found about first actions.
type planner interface {
	env.Agent
	Reporter
	SetGuard(g Guard)
	// plan returns the level of the first actions, until the next search; excluded ones have the value -Win.
	plan() *level
}

// A rival is a first action and the chances of winning after each of its rollouts.
type rival struct {
	action  env.Action
	value   float32 // by the search
	results []float32
}

// An OddsEvaluator is an Evaluator whose values tell who is ahead.
type OddsEvaluator interface {
	Evaluator
	// Odds is the log odds that a seat wins for each unit by which its value is above that of the other seat.
	Odds() float32
}

const (
	rivalsMost = 4    // first actions that are tried
	rivalsNear = 0.75 // log odds by which they are behind the search's choice, at most
	rounds     = 8    // actions of each seat in a rollout
	batch      = 49   // rollouts of each action between two looks at the results: two draws of seven pieces
	ahead      = 1    // standard errors by which an action must be better than the search's choice to be tried further
	beyond     = 3    // and to be played
)

// RolloutsMemory is what each rollout of a decision takes, in bytes.
const RolloutsMemory = 4 * rivalsMost

// NewRollouts returns one for a game of two that tries the best actions of inner, a TwoPly or an Expectimax, in up to
// most ≥ 1 rollouts each. The draws are those that inner averages over, 0 to outcomes-1.
func NewRollouts(g *env.Game, inner env.Agent, e OddsEvaluator, most, outcomes int) (*Rollouts, error) {
	p, ok := inner.(planner)
	if !ok || g.MaxSeats != 2 || most < 1 {
		return nil, fmt.Errorf("search: %d rollouts of %s: want 1 or more, after a search of two plies or more, in a game "+
			"of two who act at once", most, g.Name)
	}
	r := &Rollouts{
		inner: p, policy: *NewGreedy(g, e), odds: e.Odds(), most: most, outcomes: outcomes, seats: 1<<2 - 1,
		start: g.New(2), state: g.New(2), view: g.New(2),
	}
	for i := range r.pool {
		r.pool[i].results = make([]float32, 0, most)
	}
	return r, nil
}

// SetGuard guards the first actions of the search, as the SetGuard of a TwoPly does.
func (r *Rollouts) SetGuard(g Guard) { r.inner.SetGuard(g) }

// Value implements Reporter: it is what the search says of its own choice.
func (r *Rollouts) Value() float32 { return r.inner.Value() }

// Act implements env.Agent. At the deadline of ctx, the rollouts that were played decide.
func (r *Rollouts) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	clock := NewClock(ctx)
	r.start.CopyFrom(s)
	a, err := r.inner.Act(ctx, s, seat)
	if err != nil {
		return a, err
	}
	r.invite(a)
	for k := 0; k < r.most && len(r.rivals) > 1 && !clock.Up(); k++ {
		for i := range r.rivals {
			v := &r.rivals[i]
			v.results = append(v.results, r.play(ctx, seat, v.action, k))
		}
		if (k+1)%batch == 0 || k+1 == r.most {
			r.compare()
		}
	}
	return r.rivals[0].action, nil
}

// invite lists the actions to try: a, which the search has chosen, and the best others that are near it.
func (r *Rollouts) invite(a env.Action) {
	l, list := r.inner.plan(), r.pool[:1]
	for i, b := range l.legal {
		if b == a {
			list[0].action, list[0].value = a, l.value[i]
		}
	}
	for i, b := range l.legal {
		v := l.value[i]
		if b == a || v < -Limit || (list[0].value-v)*r.odds > rivalsNear {
			continue
		}
		if len(list) < rivalsMost {
			list = list[:len(list)+1]
		} else if v <= list[len(list)-1].value {
			continue
		}
		at := len(list) - 1
		for ; at > 1 && v > list[at-1].value; at-- {
			list[at].action, list[at].value = list[at-1].action, list[at-1].value
		}
		list[at].action, list[at].value = b, v
	}
	for i := range list {
		list[i].results = list[i].results[:0]
	}
	r.rivals = list
}

// compare takes out the actions that are not ahead of the search's choice. If one is so beyond doubt, it alone stays.
func (r *Rollouts) compare() {
	kept, best, most := 1, 0, float64(beyond)
	for i := 1; i < len(r.rivals); i++ {
		z := surplus(r.rivals[i].results, r.rivals[0].results)
		if z < ahead {
			continue
		}
		r.rivals[kept], r.rivals[i] = r.rivals[i], r.rivals[kept]
		if z > most {
			best, most = kept, z
		}
		kept++
	}
	r.rivals = r.rivals[:kept]
	if best > 0 {
		r.rivals[0], r.rivals[best] = r.rivals[best], r.rivals[0]
		r.rivals = r.rivals[:1]
	}
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

// play returns the chance that seat wins after rollout k of a.
func (r *Rollouts) play(ctx context.Context, seat int, a env.Action, k int) float32 {
	s := r.state
	s.CopyFrom(r.start)
	deal := k
	for round := 0; round < rounds; round++ {
		m := env.NoMoves
		m[seat] = a
		for set := s.Acting(); set != 0; set = set.Rest() {
			at := set.First()
			if round == 0 && at == seat {
				continue
			}
			r.view.CopyFrom(s)
			var err error
			if m[at], err = r.policy.Act(ctx, r.view, at); err != nil {
				return lost(at == seat)
			}
		}
		s.Hide(r.seats, env.Derive(uint64(k), uint64(round)))
		forced := 0
		if r.outcomes > 0 && round < 2 {
			r.draw[0], deal, forced = uint16(deal%r.outcomes), deal/r.outcomes, 1
		}
		s.Force(r.draw[:forced])
		s.Step(m)
		if s.Acting() == 0 {
			return (1 + s.Result(seat)) / 2
		}
	}
	r.one[0] = s
	r.policy.eval.Evaluate(r.one[:], seat, r.value[:1])
	r.policy.eval.Evaluate(r.one[:], 1-seat, r.value[1:])
	return float32(Chance(r.odds * (r.value[0] - r.value[1])))
}

// lost is the chance of winning of a seat that has no action, or whose opponent has none.
func lost(own bool) float32 {
	if own {
		return 0
	}
	return 1
}
