// Package distill makes a small network of a large one: the small one is fitted to the values that the large one, the
// teacher, gives to positions of games that it plays. Where the teacher is a mean of several networks, whose errors
// differ, the small one learns what they have in common without their noise.
package distill

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/network"
	"blockyard/train/network/rows"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// A Config is the settings of Run. Its result depends on nothing else, Workers and Progress excepted.
type Config struct {
	Seed       uint64
	Hidden     []int // sizes of the hidden layers, if From is nil
	From       *mlp.Net
	Games      int     // played side by side
	Steps      int     // of each game per iteration
	Samples    int     // positions per decision that are learned from
	Iterations int     // of playing and fitting
	Batch      int     // rows per step of the optimiser
	Rate       float64 // learning rate at the beginning; it falls to a hundredth, along half a cosine
	Late       float64 // share of games that start from a late or damaged position
	Explore    float64 // probability of a random choice among the best few
	Workers    int     // goroutines that play

	Progress func(iteration int, loss float64) // called after each iteration; may be nil
}

// Default is a run of some minutes on one core.
func Default() Config {
	return Config{
		Seed: 1, Hidden: []int{64}, Games: 64, Steps: 8, Samples: 6, Iterations: 1500, Batch: 256, Rate: 1e-3,
		Late: 0.2, Explore: 0.2, Workers: 1,
	}
}

// check reports the first setting that is out of range.
func (c *Config) check() error {
	const most = 1 << 20
	for _, h := range c.Hidden {
		if err := selfplay.CheckCount("hidden", h, 1024); err != nil {
			return err
		}
	}
	return cmp.Or(
		selfplay.CheckCount("games", c.Games, most), selfplay.CheckCount("steps", c.Steps, most),
		selfplay.CheckCount("samples", c.Samples, 64), selfplay.CheckCount("iterations", c.Iterations, most),
		selfplay.CheckCount("batch", c.Batch, most), selfplay.CheckRate("rate", c.Rate),
		selfplay.CheckShare("late", c.Late), selfplay.CheckShare("explore", c.Explore),
	)
}

// Run plays games with the teacher and fits a network to its values. If ctx ends, it stops after the current iteration.
// The result is the mean of the weights over the last tenth of the iterations.
func Run(ctx context.Context, g *games.Game, teacher *mlp.Net, c Config) (*mlp.Net, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	sizes := append(append([]int{len(g.Features)}, c.Hidden...), 1)
	if c.From != nil {
		sizes = network.Sizes(c.From)
	}
	t, err := network.New(network.Config{Sizes: sizes, Batch: c.Batch, Loss: network.Square, Seed: c.Seed})
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.Close() }()
	if c.From != nil {
		if err := t.SetNet(c.From); err != nil {
			return nil, err
		}
	}
	tables := make([]*table, c.Games)
	for i := range tables {
		tables[i] = newTable(g, &c, uint64(i))
	}
	searches := make([]*afterstate.Search, max(1, c.Workers))
	for i := range searches {
		searches[i] = afterstate.New(g, teacher, 1)
	}
	all := rows.Rows{Game: g}
	var mean *mlp.Net
	means := 0
	for n := 0; n < c.Iterations && ctx.Err() == nil; n++ {
		play(tables, searches)
		all.Cut(0)
		for _, x := range tables {
			all.X, all.Y = append(all.X, x.x...), append(all.Y, x.y...)
		}
		rate := c.Rate * (0.01 + 0.99*(1+math.Cos(math.Pi*float64(n)/float64(c.Iterations)))/2)
		loss, err := all.Pass(t, rand.New(rand.NewPCG(c.Seed, uint64(n))), c.Batch, rate)
		if err != nil {
			return nil, err
		}
		if n >= c.Iterations-c.Iterations/10-1 {
			now, err := t.Net()
			if err != nil {
				return nil, err
			}
			means++
			if mean == nil {
				mean = now
			}
			if mean, err = selfplay.Blend(mean, now, 1/float32(means)); err != nil {
				return nil, err
			}
		}
		if c.Progress != nil {
			c.Progress(n+1, loss)
		}
	}
	if mean == nil {
		return t.Net()
	}
	return mean, nil
}

// A table is a place where one game after another is played, with what was noted there.
type table struct {
	game   *games.Game
	config *Config
	state  env.State
	view   env.State
	random env.Rand
	x, y   []float32
}

const tableStream = 0x64697374

func newTable(g *games.Game, c *Config, index uint64) *table {
	t := &table{game: g, config: c, state: g.Rules.New(g.Rules.MinSeats), view: g.Rules.New(g.Rules.MinSeats)}
	t.random.Seed(env.Derive(c.Seed^tableStream, index))
	t.start()
	return t
}

func (t *table) chance(p float64) bool { return float64(t.random.Next()>>11)/(1<<53) < p }

func (t *table) start() {
	t.state.Reset(t.random.Next())
	if t.game.Damage != nil && t.chance(t.config.Late) {
		t.game.Damage(t.state, &t.random)
	}
}

// play plays the tables, shared out among the searches.
func play(tables []*table, searches []*afterstate.Search) {
	var wait sync.WaitGroup
	for w, s := range searches {
		wait.Go(func() {
			for i := w; i < len(tables); i += len(searches) {
				tables[i].play(s)
			}
		})
	}
	wait.Wait()
}

// play plays the steps of an iteration by s and notes positions with their values.
func (t *table) play(s *afterstate.Search) {
	t.x, t.y = t.x[:0], t.y[:0]
	for range t.config.Steps {
		if t.state.Acting() == 0 {
			t.start()
		}
		moves := env.NoMoves
		for left := t.state.Acting(); left != 0; left = left.Rest() {
			moves[left.First()] = t.choose(s, left.First())
		}
		t.state.Step(moves)
	}
}

// choose makes the choice of a seat. It notes some of the positions after the seat's choices, and some of those one ply
// later: searches evaluate both.
func (t *table) choose(s *afterstate.Search, seat int) env.Action {
	env.View(t.view, t.state, seat, t.random.Next())
	s.Evaluate(&s.Root, t.view, seat)
	i := afterstate.Best(s.Root.Worth)
	if i < 0 || s.Root.Live == 0 {
		return s.Action(i)
	}
	if t.chance(t.config.Explore) {
		i = s.Random(i, &t.random)
	}
	half := (t.config.Samples + 1) / 2
	t.note(&s.Root, half)
	s.Rank()
	k := s.Order[t.random.Next()%uint64(min(8, len(s.Order)))]
	next := s.Root.States[k]
	s.Evaluate(&s.Leaf, next, next.Acting().First())
	if next.Acting().Has(seat) {
		s.Evaluate(&s.Leaf, next, seat)
	}
	t.note(&s.Leaf, t.config.Samples-half)
	return s.Action(i)
}

// note notes n of the positions of a decision: the best, and others at random.
func (t *table) note(l *afterstate.Ply, n int) {
	own := t.game.Own
	for j := range n {
		if l.Live == 0 {
			return
		}
		k := int(t.random.Next() % uint64(l.Live))
		if j == 0 {
			if b := l.Find(afterstate.Best(l.Worth)); b >= 0 {
				k = b
			}
		}
		at := len(t.x)
		t.x = append(t.x, make([]float32, len(t.game.Features))...)
		l.CopyRow(k, own, t.x[at:])
		t.y = append(t.y, l.Out[k])
	}
}
