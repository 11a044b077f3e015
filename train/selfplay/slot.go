package selfplay

import (
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/train/task"
)

// Who chooses in a seat.
const (
	byNet uint8 = iota
	byHand
)

// A slot is a place in which one game after another is played. All its chance comes from
// its own generator.
type slot struct {
	game  *task.Game
	state env.State
	rand  env.Rand
	who   [env.MaxSeats]uint8
	paths [env.MaxSeats]path
	seen  insight
	fate  [][]uint16 // what the futures of a look draw
	ended int        // games that ended in this stretch
	moves int        // choices made in this stretch

	record *record.Record   // of the game in progress, if it is recorded
	played []*record.Record // games that ended in this stretch
}

// deal is the policy of a stretch.
type deal struct {
	warm    bool // the hand-tuned evaluator plays all seats and all of them learn
	explore float64
	late    float64
	versus  float64
	others  int // choices not made that a warm start notes
	record  bool
	samples int // above 0: moves are chosen two deep and this many looks are taken further
	look    int // by so many choices

	temperature float64 // above 0: the net is an actor's and draws its choices
}

func newSlot(g *task.Game, seed uint64) *slot {
	s := &slot{game: g, state: g.Rules.New(g.Rules.MinSeats)}
	s.rand.Seed(seed)
	return s
}

// start begins a game.
func (s *slot) start(d deal) {
	seed := s.rand.Next()
	s.state.Reset(seed)
	late := s.chance(d.late)
	if late {
		s.game.Damage(s.state, &s.rand)
	}
	s.who = [env.MaxSeats]uint8{}
	if !d.warm && s.chance(d.versus) {
		s.who[s.rand.Next()%uint64(s.game.Rules.MinSeats)] = byHand
	}
	s.record = nil
	if d.record {
		s.record = s.begin(seed, late, d.warm)
	}
}

// begin is the record of a game that has just been started.
func (s *slot) begin(seed uint64, late, warm bool) *record.Record {
	var names []string
	for _, w := range s.who[:s.game.Rules.MinSeats] {
		if warm || w == byHand {
			names = append(names, "hand:ply=1")
		} else {
			names = append(names, "net in training")
		}
	}
	rec := record.New(s.game.Rules, seed, names)
	if late {
		start, err := env.Encode(nil, s.state)
		if err != nil { // a state that cannot be encoded cannot be recorded
			return nil
		}
		rec.Start = start
	}
	return rec
}

// play plays rounds steps and notes what the learning seats saw.
func (s *slot) play(c *chooser, d deal, rounds int) {
	s.ended, s.moves, s.played = 0, 0, s.played[:0]
	s.seen.clear()
	for i := range s.paths {
		p := &s.paths[i]
		p.x, p.steps, p.otherX, p.otherWorth = p.x[:0], p.steps[:0], p.otherX[:0], p.otherWorth[:0]
		p.pairX, p.pairAt = p.pairX[:0], p.pairAt[:0]
	}
	for range rounds {
		acting := s.state.Acting()
		m := env.NoMoves
		for set := acting; set != 0; set = set.Rest() {
			seat := set.First()
			m[seat] = s.choose(c, d, seat)
			s.moves++
		}
		if s.record != nil {
			s.record.Add(acting, m)
		}
		s.state.Step(m)
		if s.state.Acting() == 0 {
			s.finish()
			s.start(d)
		}
	}
}

// choose plays for seat and, if it learns, notes the row.
func (s *slot) choose(c *chooser, d deal, seat int) env.Action {
	hand := d.warm || s.who[seat] == byHand
	if !hand && d.temperature > 0 {
		return s.act(c, d, seat)
	}
	if !hand && d.samples > 0 {
		return s.deliberate(c, d, seat)
	}
	var i int
	if hand {
		i = c.byHand(s.state, seat)
	} else {
		i = c.byNet(s.state, seat)
	}
	if i < 0 {
		return env.None
	}
	if s.chance(d.explore) && c.root.live > 1 {
		c.rank()
		i = c.root.slot[c.order[s.rand.Next()%uint64(min(6, len(c.order)))]]
	}
	if d.warm || !hand {
		s.note(c, seat, i, d.warm)
	}
	if d.warm && c.worth != nil {
		for range min(d.others, c.root.live-1) {
			s.noteOther(c, seat)
		}
	}
	return c.root.legal[i]
}

// act draws a choice and a second one for comparison, plays the first and notes both if
// they differ. Where there is nothing to draw it plays the best.
func (s *slot) act(c *chooser, d deal, seat int) env.Action {
	c.options(s.state, seat)
	if len(c.picks) == 0 {
		i := c.byNet(s.state, seat)
		if i < 0 {
			return env.None
		}
		s.note(c, seat, i, false)
		return c.root.legal[i]
	}
	a, b := c.draw(d.temperature, &s.rand)
	i := c.root.slot[c.picks[a]]
	s.note(c, seat, i, false)
	if a != b {
		p, n := &s.paths[seat], len(s.game.Features)
		p.pairX = append(p.pairX, make([]float32, 2*n)...)
		x := p.pairX[len(p.pairX)-2*n:]
		c.optionRow(a, seat, x[:n])
		c.optionRow(b, seat, x[n:])
		p.pairAt = append(p.pairAt, len(p.steps)-1)
	}
	return c.root.legal[i]
}

// finish closes the paths of a game that is over.
func (s *slot) finish() {
	s.ended++
	if s.record != nil {
		s.record.End(s.state)
		s.played = append(s.played, s.record)
	}
	for seat := range s.paths {
		p := &s.paths[seat]
		if k := len(p.steps) - 1; k >= 0 && p.steps[k].kind != ended {
			p.steps[k].kind = ended
			p.steps[k].result = s.outcome(seat)
		}
	}
}

func (s *slot) chance(p float64) bool {
	return p > 0 && float64(s.rand.Next()>>11)*(1./(1<<53)) < p
}
