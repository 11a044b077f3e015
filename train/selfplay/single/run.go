package single

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/rows"
	"blockyard/train/task"
	"blockyard/train/trainer"
)

// A Run is a training run in progress.
type Run struct {
	Game    *task.Game
	Config  Config
	Workers int // goroutines that play; no influence on the outcome

	Counts  Counts
	Curve   []Point  // one per gate
	Best    *mlp.Net // the best net gated so far; nil before the first gate
	trainer *trainer.Trainer
	net     *mlp.Net // as of the last fit: it plays
	mean    *mlp.Net // of the last fits: it is gated
	slots   []*slot
	players []*chooser
	kept    []stretch // of the last stretches, the oldest first
	rows    rows.Rows
}

// Counts are what a run has done so far.
type Counts struct {
	Iterations int           `json:"iterations"`
	Gated      int           `json:"gated"` // gates passed through
	Games      int           `json:"games"` // that ended
	Moves      int           `json:"moves"`
	Rows       int           `json:"rows"` // afterstates learnt from
	Seen       uint64        `json:"seen"` // afterstates judged
	Loss       float64       `json:"loss"` // of the last stretch
	Spent      time.Duration `json:"spent"`
}

// Streams separate the seeds of games, shuffling and gates from each other and from that of
// the first weights.
const (
	gameStream = 0x736f6c6f
	rowStream  = 0x726f7773
	gateStream = 0x67617465
)

// ErrNotSolo is wrapped where the game is not of one seat, or does not say what it pays.
var ErrNotSolo = errors.New("not a game of one seat that says what it pays")

// New begins a run from a net of the same sizes, or from random weights if from is nil.
func New(g *task.Game, c Config, from *mlp.Net, workers int) (*Run, error) {
	if g.Solo == nil || g.Solo.Rules.MaxSeats != 1 {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, ErrNotSolo)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	r := &Run{Game: g, Config: c, Workers: max(1, workers), rows: rows.Rows{Game: g}}
	sizes := append(append([]int{len(g.Features)}, c.Hidden...), 1)
	var err error
	if r.trainer, err = trainer.New(trainer.Config{Sizes: sizes, Batch: c.Batch, Loss: trainer.Square, Seed: c.Seed}); err != nil {
		return nil, err
	}
	if from != nil {
		if err := r.trainer.SetNet(from); err != nil {
			return nil, errors.Join(err, r.trainer.Close())
		}
	}
	for i := range c.Games {
		r.slots = append(r.slots, newSlot(g, env.Derive(c.Seed^gameStream, uint64(i))))
		r.slots[i].start(c.Late)
	}
	for range r.Workers {
		r.players = append(r.players, newChooser(g, c.Width))
	}
	if r.net, err = r.trainer.Net(); err != nil {
		return nil, errors.Join(err, r.trainer.Close())
	}
	r.mean = r.net
	return r, nil
}

// Close frees what the trainer holds.
func (r *Run) Close() error { return r.trainer.Close() }

// Net is the mean of the nets of the last fits: what is gated and saved.
func (r *Run) Net() *mlp.Net { return r.mean }

// Progress is the share of the budget that is spent, 0 to 1.
func (r *Run) Progress() float64 {
	if r.Config.For > 0 {
		return min(1, float64(r.Counts.Spent)/float64(r.Config.For))
	}
	return min(1, float64(r.Counts.Iterations)/float64(r.Config.Iterations))
}

// Done reports whether the budget is spent and every gate passed through.
func (r *Run) Done() bool { return r.Progress() >= 1 && !r.gateDue() }

func (r *Run) gateDue() bool {
	return r.Counts.Gated < int(r.Progress()*float64(r.Config.Gates)+1e-9)
}

// Go steps and gates until the budget is spent or ctx ends; then its error is nil and the
// run can be saved and resumed. after, if set, is called after each step and each gate.
func (r *Run) Go(ctx context.Context, after func(gated bool) error) error {
	for !r.Done() {
		if ctx.Err() != nil {
			return nil
		}
		gated := r.gateDue()
		if gated {
			if ok, err := r.gate(ctx); err != nil || !ok {
				return err
			}
		} else if err := r.Step(); err != nil {
			return err
		}
		if after != nil {
			if err := after(gated); err != nil {
				return err
			}
		}
	}
	return nil
}

// Step plays a stretch of all games and fits its rows once.
func (r *Run) Step() error {
	began := time.Now()
	r.share(func(c *chooser, i int) { r.slots[i].play(c, &r.Config) }, len(r.slots), r.net, r.Progress() < r.Config.Warm)
	r.collect()
	if err := r.fit(); err != nil {
		return err
	}
	r.Counts.Iterations++
	r.Counts.Spent += time.Since(began)
	return nil
}

// share does n things, shared out among the workers, with choosers that play by net.
func (r *Run) share(do func(c *chooser, i int), n int, net *mlp.Net, hand bool) {
	var running sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	for _, c := range r.players {
		c.use(net, hand)
		running.Go(func() {
			for i := range next {
				do(c, i)
			}
		})
	}
	running.Wait()
	for _, c := range r.players {
		r.Counts.Seen += c.seen
		c.seen = 0
	}
}

// collect turns what the slots noted into rows.
func (r *Run) collect() {
	for _, s := range r.slots {
		r.Counts.Games += s.ends
		r.Counts.Moves += s.moves
		r.Counts.Rows += len(s.steps)
		r.kept = append(r.kept, s.stretch)
	}
	if most := r.Config.Keep * r.Config.Games; len(r.kept) > most {
		r.kept = append(r.kept[:0], r.kept[len(r.kept)-most:]...)
	}
	r.rows.Cut(0)
	n := len(r.Game.Features)
	y, ok := make([]float32, r.Config.Rounds), make([]bool, r.Config.Rounds)
	var out []float32
	for k := range r.kept {
		s := &r.kept[k]
		if k < len(r.kept)-len(r.slots) {
			out = s.judge(r.net, out)
		}
		s.returns(float32(r.Config.Lambda), float32(r.Game.Solo.Discount), y, ok)
		for i := range s.steps {
			if ok[i] {
				r.rows.X, r.rows.Y = append(r.rows.X, s.x[i*n:(i+1)*n]...), append(r.rows.Y, y[i])
			}
		}
	}
}

// fit takes one pass over the rows.
func (r *Run) fit() error {
	shuffle := rand.New(rand.NewPCG(r.Config.Seed^rowStream, uint64(r.Counts.Iterations)))
	loss, err := r.rows.Pass(r.trainer, shuffle, r.Config.Batch, r.rate())
	if err != nil {
		return err
	}
	r.Counts.Loss = loss
	if r.net, err = r.trainer.Net(); err != nil {
		return err
	}
	r.mean, err = mean(r.mean, r.net, 1/float32(min(r.Counts.Iterations+1, r.Config.Mean)))
	return err
}

func (r *Run) rate() float64 {
	c := r.Config
	return c.RateEnd + (c.Rate-c.RateEnd)*(1+math.Cos(math.Pi*r.Progress()))/2
}

// mean moves a running mean of nets a share of the way to the next one.
func mean(before, now *mlp.Net, share float32) (*mlp.Net, error) {
	var layers []mlp.Layer
	for i, l := range now.Layers() {
		b := before.Layers()[i]
		layers = append(layers, mlp.Layer{In: l.In, Out: l.Out, W: between(b.W, l.W, share), B: between(b.B, l.B, share)})
	}
	return mlp.New(layers)
}

func between(a, b []float32, share float32) []float32 {
	out := make([]float32, len(a))
	for i := range a {
		out[i] = a[i] + share*(b[i]-a[i])
	}
	return out
}
