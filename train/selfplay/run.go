package selfplay

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"blockyard/agents/mlp"
	"blockyard/datasets/record"
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

	// Record, if set, is given every game of self-play that begins after it is set, in
	// the order of places, stretch by stretch.
	Record func(*record.Record) error

	Counts  Counts
	Curve   []Point  // one per gate
	Best    *mlp.Net // the best net gated so far; nil before the first gate
	trainer *trainer.Trainer
	net     *mlp.Net // the mean of the trainer's weights over the last fits
	slots   []*slot
	players []*chooser
	rows    rows.Rows // of a stretch
	actor   *actor    // nil until its share of the budget begins
	backup  *backup   // nil outside its share
}

// Counts are what a run has done so far.
type Counts struct {
	Iterations int           `json:"iterations"`
	Gated      int           `json:"gated"` // gates passed through
	Games      int           `json:"games"`
	Moves      int           `json:"moves"` // choices made
	Rows       int           `json:"rows"`  // afterstates learnt from
	Pairs      int           `json:"pairs"` // pairs of choices the actor has learnt from
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

// New begins a run from a net of the same sizes; where from is nil, from the game's first
// net if there is to be a backup, else from random weights.
func New(g *task.Game, c Config, from *mlp.Net, workers int) (*Run, error) {
	if c.Backup > 0 && from == nil {
		var err error
		if from, err = first(g, c); err != nil {
			return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
		}
	}
	return create(g, c, from, workers)
}

// create is New, but from random weights wherever from is nil.
func create(g *task.Game, c Config, from *mlp.Net, workers int) (*Run, error) {
	err := errors.Join(c.check(), c.checkBackup(g))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	r := &Run{Game: g, Config: c, Workers: max(1, workers), rows: rows.Rows{Game: g}}
	if r.trainer, err = trainer.New(trainer.Config{Sizes: sizes(g, c), Batch: c.Batch, Loss: c.loss(), Seed: c.Seed}); err != nil {
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
	if r.net, err = r.trainer.Net(); err == nil && c.Backup > 0 {
		err = r.rebase()
	}
	return r, err
}

// Close frees what the trainers hold.
func (r *Run) Close() error {
	if r.actor != nil {
		return errors.Join(r.trainer.Close(), r.actor.trainer.Close())
	}
	return r.trainer.Close()
}

// Net is the net as of the last fit that is gated and saved: the actor's mean once there
// is an actor, else the mean of the net that learns values.
func (r *Run) Net() *mlp.Net {
	if r.actor != nil {
		return r.actor.mean
	}
	return r.net
}

// Acts reports whether Net is an actor's. Its outputs are preferences, of which the
// softmax at Config.Temperature draws choices; else they are log odds of winning.
func (r *Run) Acts() bool { return r.actor != nil }

func (r *Run) deal() deal {
	c := r.Config
	d := deal{warm: r.Progress() < c.Warm, explore: c.Explore, late: c.Late, versus: c.Versus, others: c.Others, record: r.Record != nil}
	if c.backedUp(r.Progress()) {
		d.samples, d.look = c.Samples, max(1, c.Look)
	} else if c.Actor > 0 && r.Progress() >= c.actorFrom() {
		d.temperature = c.Temperature
	}
	return d
}

// Step plays a stretch of all games and fits its rows once.
func (r *Run) Step() error {
	began := time.Now()
	d := r.deal()
	if d.samples == 0 && r.backup != nil {
		if err := r.settle(); err != nil {
			return err
		}
	}
	if d.temperature > 0 && r.actor == nil {
		if err := r.hire(r.net); err != nil {
			return err
		}
	}
	r.play(d)
	if err := r.learnAll(d); err != nil {
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
	deep, net, rounds := r.Progress() >= 1-r.Config.Deep, r.net, r.Config.Rounds
	if r.backup != nil {
		net, rounds = r.backup.base, max(1, rounds/backupRounds)
	}
	if r.actor != nil {
		net = r.actor.net
	}
	var running sync.WaitGroup
	next := make(chan *slot, len(r.slots))
	for _, s := range r.slots {
		next <- s
	}
	close(next)
	for _, c := range r.players {
		c.use(net)
		c.deep = deep
		running.Go(func() {
			for s := range next {
				s.play(c, d, rounds)
			}
		})
	}
	running.Wait()
	for _, c := range r.players {
		r.Counts.Visited += c.visited
		c.visited = 0
	}
}
