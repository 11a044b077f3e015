// Package afterstate evaluates the actions of one decision (Search) by their afterstates, the positions right after
// each, by a network or the game's baseline. A Path keeps those that a seat chose, to learn from.
//
// The worth of an action is the value of its afterstate. An action that ends the game is not evaluated: its worth is
// Certain times the result, so a win is worth more than any value of a network, and a loss less.
package afterstate

import (
	"cmp"
	"slices"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/games"
)

const Certain = 1e6 // the worth of a won game

const exploreAmong = 6 // how many of the best choices Random chooses from

// A Ply holds the afterstates of one decision; those of finished games are left out of States.
type Ply struct {
	Legal  []env.Action
	Worth  []float32   // per legal action
	States []env.State // the first Live of them are afterstates in which the game goes on
	Choice []int       // the index in Legal of the choice that leads to each of them
	Live   int
	X      []float32 // [Live][own] features
	Out    []float32 // [Live] values
	Shared []float32 // the features that all afterstates of the decision share
	acc    []float32
}

// A Search evaluates decisions one after another, in memory that it uses again. It is not safe for concurrent use.
type Search struct {
	Game    *games.Game
	Net     *mlp.Net
	Root    Ply
	Leaf    Ply   // the decision after one choice of Root
	Order   []int // the live afterstates of Root, the best first; see Rank
	Width   int   // choices of Root that a deeper search goes on with
	visited uint64

	// Opponents are the evaluators that Opponent chooses by.
	Opponents []search.Evaluator

	reader features.Reader
}

// New returns a search that evaluates with a clone of net.
func New(g *games.Game, net *mlp.Net, width int) *Search {
	return &Search{Game: g, Net: net.Clone(), Width: width, reader: g.Reader()}
}

// TakeVisited returns how many afterstates were evaluated since the last call.
func (c *Search) TakeVisited() uint64 {
	n := c.visited
	c.visited = 0
	return n
}

// Open sets l to seat's choices in s and plays out each. The worth of those that end the game is set.
func (c *Search) Open(l *Ply, s env.State, seat int) {
	l.Legal = s.Legal(seat, l.Legal[:0])
	l.Live = 0
	if n := len(l.Legal); cap(l.Worth) < n {
		l.Worth, l.Out, l.Choice = make([]float32, n), make([]float32, n), make([]int, n)
	}
	l.Worth, l.Choice, l.Out = l.Worth[:len(l.Legal)], l.Choice[:cap(l.Worth)], l.Out[:cap(l.Worth)]
	for len(l.States) < len(l.Legal) {
		l.States = append(l.States, c.Game.Rules.New(c.Game.Rules.MinSeats))
	}
	for i, a := range l.Legal {
		next := l.States[l.Live]
		next.CopyFrom(s)
		env.After(next, seat, a)
		if next.Acting() == 0 {
			l.Worth[i] = Certain * next.Result(seat)
			continue
		}
		l.Choice[l.Live] = i
		l.Live++
	}
	c.visited += uint64(l.Live)
}

// Evaluate opens l, and sets the worth of every action after which the game goes on to the net's value.
func (c *Search) Evaluate(l *Ply, s env.State, seat int) {
	c.Open(l, s, seat)
	if l.Live == 0 {
		return
	}
	c.read(l, seat)
	c.Net.Base(l.Shared, c.Game.Own, l.acc)
	c.Net.ForwardFrom(l.acc, l.X, c.Game.Own, l.Live, l.Out)
	for k, v := range l.Out[:l.Live] {
		l.Worth[l.Choice[k]] = v
	}
}

func (c *Search) read(l *Ply, seat int) {
	own := c.Game.Own
	if need := l.Live * own; len(l.X) < need {
		l.X = make([]float32, max(need, 64*own))
	}
	if l.Shared == nil {
		l.Shared, l.acc = make([]float32, len(c.Game.Features)-own), make([]float32, c.Net.AccLen())
	}
	c.reader.Shared(l.States[0], seat, l.Shared)
	for k, s := range l.States[:l.Live] {
		c.reader.Own(s, seat, l.X[k*own:(k+1)*own])
	}
}

// Best returns the index in Root.Legal of the choice that the net prefers, -1 if there is no choice.
func (c *Search) Best(s env.State, seat int) int {
	c.Evaluate(&c.Root, s, seat)
	return Best(c.Root.Worth)
}

// BestWorth returns the worth of seat's best choice in s, -Certain if there is none.
func (c *Search) BestWorth(l *Ply, s env.State, seat int) float32 {
	c.Evaluate(l, s, seat)
	if b := Best(l.Worth); b >= 0 {
		return l.Worth[b]
	}
	return -Certain
}

// Opponent returns the index in Root.Legal of what the k-th of Opponents prefers, from 1; -1 if there is no choice.
func (c *Search) Opponent(s env.State, seat, k int) int {
	l := &c.Root
	c.Open(l, s, seat)
	if l.Live > 0 {
		c.Opponents[k-1].Evaluate(l.States[:l.Live], seat, l.Out[:l.Live])
		for i, v := range l.Out[:l.Live] {
			l.Worth[l.Choice[i]] = v
		}
	}
	return Best(l.Worth)
}

// Random returns the index in Root.Legal of one of the six best choices of an evaluated Root after which the game goes
// on, or i if there are not two of these.
func (c *Search) Random(i int, r *env.Rand) int {
	if c.Root.Live <= 1 {
		return i
	}
	c.Rank()
	return c.Root.Choice[c.Order[r.Next()%uint64(min(exploreAmong, len(c.Order)))]]
}

// Rank puts the live afterstates of Root in order of worth.
func (c *Search) Rank() {
	c.Order = c.Order[:0]
	for k := range c.Root.Live {
		c.Order = append(c.Order, k)
	}
	worth, choice := c.Root.Worth, c.Root.Choice
	slices.SortStableFunc(c.Order, func(a, b int) int { return cmp.Compare(worth[choice[b]], worth[choice[a]]) })
}

// Action returns the i-th legal action of Root, None if i is negative.
func (c *Search) Action(i int) env.Action {
	if i < 0 {
		return env.None
	}
	return c.Root.Legal[i]
}

// Find returns which live afterstate the i-th choice leads to, -1 if it ends the game.
func (l *Ply) Find(i int) int {
	for k := range l.Live {
		if l.Choice[k] == i {
			return k
		}
	}
	return -1
}

// Best is the index of the greatest number, the first of equals; -1 of none.
func Best(worth []float32) int {
	b := min(0, len(worth)-1)
	for i, v := range worth {
		if v > worth[b] {
			b = i
		}
	}
	return b
}
