package vec

import (
	"errors"
	"fmt"
	"slices"
)

// MostOf is the largest Curriculum.Of.
const MostOf = 1000

// A Curriculum leads each environment along a ladder of opponents. The choices of all mixtures are its rungs, the
// weakest first; weights do not matter. An environment begins on the first rung. It leaves a rung by the results of its
// last episodes there, of the first driven seat against the best other seat; episodes that the step limit ended, and
// those against another rung, do not count.
type Curriculum struct {
	// Of is how many episodes count: the last so many on the rung, 1 … MostOf.
	Of int `json:"of"`
	// Up is the share of them that was won, draws half, from which on it goes up, and Down that below which it goes down.
	Up   float64 `json:"up"`
	Down float64 `json:"down"`
}

// A Place is where an environment stands in a Curriculum.
type Place struct {
	Rung int
	Last []uint8 // its last results there, the newest last: 0 for a loss, 1 for a draw, 2 for a win
}

// check returns an error unless c, nil for none, fits these mixtures.
func (c *Curriculum) check(mixtures []Mixture) error {
	if c == nil {
		return nil
	}
	if c.Of < 1 || c.Of > MostOf {
		return fmt.Errorf("curriculum: of is %d, want 1 to %d", c.Of, MostOf)
	}
	if !(c.Down <= c.Up) {
		return fmt.Errorf("curriculum: up is %v and down %v, want down at most up", c.Up, c.Down)
	}
	rungs := 0
	for _, m := range mixtures {
		if n := len(m); n > 0 && rungs > 0 && n != rungs {
			return fmt.Errorf("curriculum: mixtures of %d and %d choices, want as many rungs for every seat", rungs, n)
		}
		rungs = max(rungs, len(m))
	}
	if rungs == 0 {
		return errors.New("curriculum: every seat is driven, want rungs for some")
	}
	return nil
}

// setCurriculum replaces the curriculum; mixtures are those that it gets, pools have those of before.
func (e *Env) setCurriculum(mixtures []Mixture, c *Curriculum) {
	same := c != nil && e.curriculum != nil && *c == *e.curriculum
	for seat, m := range mixtures {
		same = same && slices.EqualFunc(m, e.pools[seat].choices, func(a, b Choice) bool { return a.ID == b.ID })
	}
	e.curriculum = c
	if c != nil && !same {
		e.places = make([]Place, e.c.Envs)
	}
}

// Curriculum returns the curriculum, nil if there is none, and where environment i stands in it.
func (e *Env) Curriculum(i int) (*Curriculum, Place) {
	if e.curriculum == nil {
		return nil, Place{}
	}
	return e.curriculum, e.places[i]
}

// SetPlace puts environment i where Curriculum said that it stood. An error changes nothing.
func (e *Env) SetPlace(i int, p Place) error {
	if e.curriculum == nil {
		return fmt.Errorf("vec %s: environment %d: a place, but there is no curriculum", e.g.Name, i)
	}
	if n := e.rungs(); p.Rung < 0 || p.Rung >= n || len(p.Last) > e.curriculum.Of ||
		slices.ContainsFunc(p.Last, func(r uint8) bool { return r > 2 }) {
		return fmt.Errorf("vec %s: environment %d: rung %d with %d results, want less than %d and up to %d from 0 to 2",
			e.g.Name, i, p.Rung, len(p.Last), n, e.curriculum.Of)
	}
	e.places[i] = Place{p.Rung, slices.Clone(p.Last)}
	return nil
}

// rungs returns how many rungs the curriculum has.
func (e *Env) rungs() int { return len(e.pools[e.others().First()].choices) }

// climb moves environment i, whose episode has just ended, to another rung if it is time.
func (e *Env) climb(i int) {
	c, s := e.curriculum, e.states[i]
	if c == nil || e.slots[i].cut {
		return
	}
	p, result := &e.places[i], uint8(2)
	own := s.Result(e.driven.First())
	for others := e.others(); others != 0; others = others.Rest() {
		seat := others.First()
		if e.playing[i*e.c.Seats+seat] != &e.pools[seat].choices[p.Rung] {
			return // the episode began before
		}
		switch other := s.Result(seat); {
		case other > own:
			result = 0
		case other == own:
			result = min(result, 1)
		}
	}
	if len(p.Last) == c.Of {
		p.Last = slices.Delete(p.Last, 0, 1)
	}
	p.Last = append(p.Last, result)
	sum := 0
	for _, r := range p.Last {
		sum += int(r)
	}
	to := p.Rung
	switch share := float64(sum) / float64(2*len(p.Last)); {
	case len(p.Last) < c.Of:
	case share >= c.Up:
		to = min(to+1, e.rungs()-1)
	case share < c.Down:
		to = max(to-1, 0)
	}
	if to != p.Rung {
		*p = Place{Rung: to, Last: p.Last[:0]}
	}
}
