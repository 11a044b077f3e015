package single

import (
	"blockyard/env"
	"blockyard/train/task"
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
	game  *task.Game
	state env.State
	rand  env.Rand
	age   int // choices made in this game
	leaf  int // points where the plan before led to, if the game has a planner
	stretch
	ends  int // games that ended in this stretch
	moves int
}

func newSlot(g *task.Game, seed uint64) *slot {
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
	s.stretch, s.ends, s.moves = stretch{}, 0, 0
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
	if c.plan != nil {
		s.follow(c, explore)
		return
	}
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

// follow makes the choice that is planned and notes where the plan leads, or how the game
// ended.
func (s *slot) follow(c *chooser, explore float64) {
	if s.chance(explore) { // where the plan before led to is out of reach
		s.cut()
		c.legal = s.state.Legal(0, c.legal[:0])
		s.state.Step(env.Alone(0, c.legal[s.rand.Next()%uint64(len(c.legal))]))
		return
	}
	unit := c.game.Solo.Unit
	a, points, ok := c.planned(s.state)
	if a == env.None {
		a = s.state.Legal(0, nil)[0]
	}
	if ok {
		c.net.Forward(c.row(0), 1, c.value)
		s.steps = append(s.steps, step{value: c.value[0], reward: float32(unit * float64(points-s.leaf))})
		s.x = append(s.x, c.row(0)...)
		s.leaf = points
	}
	s.state.Step(env.Alone(0, a))
	if n := len(s.steps); s.state.Acting() == 0 && n > 0 && !s.steps[n-1].cut && !s.steps[n-1].ended {
		s.steps[n-1].ended, s.steps[n-1].last = true, float32(unit*float64(s.state.Score(0)-s.leaf))
	}
}

// chance is true with probability p.
func (s *slot) chance(p float64) bool {
	return p > 0 && float64(s.rand.Next()>>11)*(1./(1<<53)) < p
}
