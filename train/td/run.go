package td

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"blockyard/agents/valuenet"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/train/learn"
	"blockyard/train/sample"
	"blockyard/train/value"
)

// A Run is a training run in progress.
type Run struct {
	Game    *learn.Game
	Config  Config
	Workers int // goroutines that play; no influence on the outcome

	// Record, if set, is given every game of self-play that begins after it is set, in
	// the order of places, stretch by stretch.
	Record func(*record.Record) error

	Counts  Counts
	Curve   []Point       // one per gate
	Best    *valuenet.Net // the best net gated so far; nil before the first gate
	trainer *value.Trainer
	net     *valuenet.Net // the mean of the trainer's weights over the last fits
	slots   []*slot
	players []*chooser
	rows    sample.Rows // of a stretch
}

// Counts are what a run has done so far.
type Counts struct {
	Iterations int           `json:"iterations"`
	Gated      int           `json:"gated"` // gates passed through
	Games      int           `json:"games"`
	Moves      int           `json:"moves"` // choices made
	Rows       int           `json:"rows"`  // afterstates learnt from
	Visited    uint64        `json:"visited"`
	Loss       float64       `json:"loss"`  // of the last stretch
	Scale      float64       `json:"scale"` // log odds of winning per unit of the hand-tuned evaluator
	Spent      time.Duration `json:"spent"`
}

// gameStream and rowStream separate the seeds of games and of shuffling from each other
// and from that of the first weights.
const (
	gameStream = 0x67616d65
	rowStream  = 0x726f7773
	gateStream = 0x67617465
)

// New begins a run, from random weights or from a net of the same sizes.
func New(g *learn.Game, c Config, from *valuenet.Net, workers int) (*Run, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	r := &Run{Game: g, Config: c, Workers: max(1, workers), rows: sample.Rows{Game: g}}
	sizes := append(append([]int{len(g.Features)}, c.Hidden...), 1)
	var err error
	if r.trainer, err = value.New(value.Config{Sizes: sizes, Batch: c.Batch, Loss: value.Logistic, Seed: c.Seed}); err != nil {
		return nil, err
	}
	if from != nil {
		if err := r.trainer.SetNet(from); err != nil {
			return nil, err
		}
	}
	for i := range c.Games {
		r.slots = append(r.slots, newSlot(g, env.Derive(c.Seed^gameStream, uint64(i))))
		r.slots[i].start(r.deal())
	}
	for range r.Workers {
		r.players = append(r.players, newChooser(g, c.DeepWidth))
	}
	r.net, err = r.trainer.Net()
	return r, err
}

// Close frees what the trainer holds.
func (r *Run) Close() error { return r.trainer.Close() }

// Net is the net as of the last fit: the one that plays and is gated.
func (r *Run) Net() *valuenet.Net { return r.net }

// Progress is the share of the budget that is spent, 0 to 1.
func (r *Run) Progress() float64 {
	if r.Config.For > 0 {
		return min(1, float64(r.Counts.Spent)/float64(r.Config.For))
	}
	return min(1, float64(r.Counts.Iterations)/float64(r.Config.Iterations))
}

func (r *Run) deal() deal {
	c := r.Config
	return deal{warm: r.Progress() < c.Warm, explore: c.Explore, late: c.Late, versus: c.Versus, others: c.Others, record: r.Record != nil}
}

// Step plays a stretch of all games and fits its rows once.
func (r *Run) Step() error {
	began := time.Now()
	d := r.deal()
	r.play(d)
	r.collect(d)
	if err := r.fit(); err != nil {
		return err
	}
	r.Counts.Iterations++
	r.Counts.Spent += time.Since(began)
	return r.pass()
}

// pass passes the games that ended in this stretch on to Record.
func (r *Run) pass() error {
	for _, s := range r.slots {
		for _, rec := range s.played {
			if err := r.Record(rec); err != nil {
				return err
			}
		}
		s.played = s.played[:0]
	}
	return nil
}

// play plays the stretch, the slots shared out among the workers.
func (r *Run) play(d deal) {
	deep := r.Progress() >= 1-r.Config.Deep
	var running sync.WaitGroup
	next := make(chan *slot, len(r.slots))
	for _, s := range r.slots {
		next <- s
	}
	close(next)
	for _, c := range r.players {
		c.use(r.net)
		c.deep = deep
		running.Go(func() {
			for s := range next {
				s.play(c, d, r.Config.Rounds)
			}
		})
	}
	running.Wait()
	for _, c := range r.players {
		r.Counts.Visited += c.visited
		c.visited = 0
	}
}

// fit takes one pass over the rows.
func (r *Run) fit() error {
	shuffle := rand.New(rand.NewPCG(r.Config.Seed^rowStream, uint64(r.Counts.Iterations)))
	loss, err := r.rows.Pass(r.trainer, shuffle, r.Config.Batch, r.rate())
	if err != nil {
		return err
	}
	if r.rows.Len() > 0 {
		r.Counts.Loss = loss
	}
	r.Counts.Rows += r.rows.Len()
	now, err := r.trainer.Net()
	if err != nil {
		return err
	}
	r.net, err = mean(r.net, now, r.Counts.Iterations+1, r.Config.Mean)
	return err
}

// mean moves a running mean of nets over a number of iterations on to the next one.
func mean(before, now *valuenet.Net, iteration, over int) (*valuenet.Net, error) {
	share := 1 / float32(min(iteration, over))
	layers := make([]valuenet.Layer, len(now.Layers()))
	for i, l := range now.Layers() {
		b := before.Layers()[i]
		layers[i] = valuenet.Layer{In: l.In, Out: l.Out, W: between(b.W, l.W, share), B: between(b.B, l.B, share)}
	}
	return valuenet.New(layers)
}

func between(a, b []float32, share float32) []float32 {
	if share == 1 {
		return b
	}
	out := make([]float32, len(a))
	for i := range a {
		out[i] = a[i] + share*(b[i]-a[i])
	}
	return out
}

// rate is RateWarm in the warm start and falls from RateFrom to RateTo after it, along half
// a cosine.
func (r *Run) rate() float64 {
	c, p := r.Config, r.Progress()
	if p < c.Warm {
		return c.RateWarm
	}
	return c.RateTo + (c.RateFrom-c.RateTo)*(1+math.Cos(math.Pi*(p-c.Warm)/(1-c.Warm+1e-9)))/2
}

// GateDue reports whether the next share of the budget is spent and its net not gated.
func (r *Run) GateDue() bool {
	return r.Counts.Gated < int(r.Progress()*float64(r.Config.Gates)+1e-9)
}

// Done reports whether the budget is spent and every gate passed through.
func (r *Run) Done() bool { return r.Progress() >= 1 && !r.GateDue() }

// Go steps and gates until the budget is spent or ctx ends; then its error is nil and the
// run can be saved and resumed. after, if set, is called after each step and each gate.
func (r *Run) Go(ctx context.Context, after func(gated bool) error) error {
	for !r.Done() {
		if ctx.Err() != nil {
			return nil
		}
		gated := r.GateDue()
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
