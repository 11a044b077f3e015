package selfplay

// A path is what one seat of a slot saw in a stretch, games one after another: a row of
// features for each choice.
type path struct {
	x     []float32 // [steps][features]
	steps []step

	otherX     []float32 // [others][features], choices not made
	otherWorth []float32

	pairX  []float32 // [pairs][2][features], an actor's: what was chosen, what was also drawn
	pairAt []int     // [pairs], index in steps of what was chosen
}

// A step is one row of a path.
type step struct {
	kind   uint8
	result float32 // the chance of winning that the game's result is, where kind is ended
	value  float32 // the net's chance of winning in this afterstate
	worth  float32 // what the hand-tuned evaluator makes of it, in a warm start
}

// What follows a step on its path.
const (
	goesOn uint8 = iota // the seat's next step of the same game
	ended               // the game's end
)

// note appends the row of choice i to seat's path. What finishes the game has no row:
// the net is never asked about finished games.
func (s *slot) note(c *chooser, seat, i int, warm bool) {
	k := c.find(i)
	if k < 0 {
		return
	}
	p, t := &s.paths[seat], step{kind: goesOn}
	p.x = s.append(p.x, c, k, seat)
	if warm && c.worth != nil {
		t.worth = c.worth(s.state, c.root.states[k], seat)
	}
	p.steps = append(p.steps, t)
}

// noteOther notes a choice at random.
func (s *slot) noteOther(c *chooser, seat int) {
	p, k := &s.paths[seat], int(s.rand.Next()%uint64(c.root.live))
	p.otherX = s.append(p.otherX, c, k, seat)
	p.otherWorth = append(p.otherWorth, c.worth(s.state, c.root.states[k], seat))
}

// append appends the row of the root's k-th afterstate to x.
func (s *slot) append(x []float32, c *chooser, k, seat int) []float32 {
	n := len(s.game.Features)
	x = append(x, make([]float32, n)...)
	c.row(k, seat, x[len(x)-n:])
	return x
}

// outcome is what seat learns from a finished game.
func (s *slot) outcome(seat int) float32 {
	if s.game.Chance != nil {
		return s.game.Chance(s.state, seat)
	}
	return (1 + s.state.Result(seat)) / 2
}
