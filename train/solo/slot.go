package solo

import (
	"blockyard/env"
	"blockyard/train/learn"
)

// A step is an afterstate that was chosen.
type step struct {
	value  float32 // what the net made of it
	reward float32 // of the choice that led to it
	ended  bool    // the choice after it ended the game, for a reward of last, or the next step is of another game
	last   float32
	cut    bool // nothing is known of what follows
}

// A slot is a place in which one game after another is played. All its chance comes from
// its own generator.
type slot struct {
	game  *learn.Game
	state env.State
	rand  env.Rand
	age   int // choices made in this game
	steps []step
	x     []float32 // their features
	ends  int       // games that ended in this stretch
	moves int
}

func newSlot(g *learn.Game, seed uint64) *slot {
	s := &slot{game: g, state: g.Solo.Rules.New(1)}
	s.rand.Seed(seed)
	return s
}

func (s *slot) start(late float64) {
	s.state.Reset(s.rand.Next())
	s.age = 0
	if s.chance(late) {
		s.game.Damage(s.state, &s.rand)
	}
}

// play makes rounds choices.
func (s *slot) play(c *chooser, conf *Config) {
	s.steps, s.x, s.ends, s.moves = s.steps[:0], s.x[:0], 0, 0
	for range conf.Rounds {
		s.choose(c, conf.Explore)
		s.moves++
		s.age++
		if s.state.Acting() == 0 {
			s.ends++
			s.start(conf.Late)
		} else if s.age >= conf.Longest {
			s.cut()
			s.start(conf.Late)
		}
	}
	s.cut()
}

// cut ends what is known of the steps so far.
func (s *slot) cut() {
	if n := len(s.steps); n > 0 && !s.steps[n-1].ended {
		s.steps[n-1].cut = true
	}
}

// choose makes one choice and notes the afterstate, or how the game ended.
func (s *slot) choose(c *chooser, explore float64) {
	c.open(s.state)
	k := c.best()
	if len(c.live) > 0 && s.chance(explore) {
		k = int(s.rand.Next() % uint64(len(c.live)))
	}
	if k < 0 { // the end, whatever is chosen
		if n := len(s.steps); n > 0 && !s.steps[n-1].cut {
			s.steps[n-1].ended, s.steps[n-1].last = true, c.reward[0]
		}
		s.state.Step(env.Alone(0, c.legal[0]))
		return
	}
	i := c.live[k]
	s.steps = append(s.steps, step{value: c.value[k], reward: c.reward[i]})
	s.x = append(s.x, c.row(k)...)
	s.state.Step(env.Alone(0, c.legal[i]))
}

// returns writes the λ-return of every step into y, and reports by ok which are known.
func (s *slot) returns(lambda, discount float32, y []float32, ok []bool) {
	for i := len(s.steps) - 1; i >= 0; i-- {
		switch t := &s.steps[i]; {
		case t.ended:
			y[i], ok[i] = t.last, true
		case t.cut:
			y[i], ok[i] = t.value, false
		default:
			next := &s.steps[i+1]
			y[i] = next.reward + discount*((1-lambda)*next.value+lambda*y[i+1])
			ok[i] = true
		}
	}
}

// chance is true with probability p.
func (s *slot) chance(p float64) bool {
	return p > 0 && float64(s.rand.Next()>>11)*(1./(1<<53)) < p
}
