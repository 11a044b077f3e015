// Package selfplay runs a training by self-play, whatever the algorithm: a Run plays a rollout, fits the network to
// what was noted and, at a gate, evaluates and saves it, until its budget of rollouts or of time is spent. A Folder
// holds its files, a State all that it needs to continue. Algorithms are packages phases and single.
//
// A rollout is a fixed number of steps of many games side by side, each in a Slot. Every worker has a Policy, which
// chooses actions and notes what is to be learned; then the Learner fits its networks once. With a budget of rollouts,
// the result depends neither on clocks nor on workers: every slot has its own random generator, networks do not change
// during a rollout, and rows are collected in the order of the slots. So a Task, a rollout of one slot, can be sent to
// another process, where a Player returns the same bytes.
package selfplay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"blockyard/agents/mlp"
	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/network"
)

// A Learner says how the games of a run are played and fits nets to what policies noted.
type Learner interface {
	// Rollout returns how the next rollout is played.
	Rollout() Rollout
	// Fit learns from the notes of the slots in the rollout that was played last.
	Fit() error
	// Gated is called after a gate, before the next rollout.
	Gated() error
	// Net is the net that gates evaluate and save. It never changes; Fit makes a new one.
	Net() *mlp.Net
	// Save adds what Restore needs, which makes a learner that has just been started the one that was saved.
	Save(s *State)
	// Restore sets what Save added. It returns an error for a state of other settings.
	Restore(s *State) error
	// Close frees the trainers.
	Close() error
}

// An Algorithm is learners, and an evaluation: a pointer to settings, saved as JSON, which embeds Options.
type Algorithm interface {
	// Start returns the learner of a new run, from a net if that is not nil, or the one to be restored if saved is not.
	Start(r *Run, from *mlp.Net, saved *State) (Learner, error)
	// Next returns the learner of the next rollout: last, or the one that takes over from last at the run's progress.
	Next(r *Run, last Learner) (Learner, error)
	// Policy returns a new policy of the rollout's kind, by settings, game and rollout alone.
	Policy(g *games.Game, ro *Rollout) (Policy, error)
	// Gate evaluates the learner's net and sets the scores and Kept of p. It returns false if ctx ended first.
	Gate(ctx context.Context, r *Run, p *Point) (bool, error)
	// Notes are what a weights file says about the learner's net.
	Notes(r *Run) map[string]string
	// Stage names the part of the run that the learner's next rollout belongs to, in a few words.
	Stage(r *Run) string
	// Common returns the settings that every algorithm has.
	Common() *Options
	// Check reports the first setting that is out of range or does not fit the game.
	Check(g *games.Game) error
}

// A Run is a training run in progress: its settings, networks, games and counts.
type Run struct {
	Game     *games.Game
	Settings Algorithm
	Options  Options // of Settings
	Workers  int     // goroutines that play; they do not influence the outcome

	// Remote, if set, plays the rollouts in other processes: in copies of the run's slots, which it returns. An error that
	// wraps ErrReturned says that it has called Return: Go continues from there.
	Remote func(context.Context, *Run, Rollout) ([]*Slot, error)
	// Unverified are the processes whose results are part of the run without having been played again, by name.
	Unverified []string
	// OnGate, if set, is called after some games of a gate. Calls do not overlap.
	OnGate func(done, of int)

	Counts  Counts
	Curve   []Point  // one per gate
	Best    *mlp.Net // the best net gated so far; nil before the first gate
	Learner Learner
	Slots   []*Slot

	Played, Fitted time.Duration // wall-clock time of rollouts and of fits in this process

	undone    int // 1 + the number of gates before Return, until the Folder has removed what they wrote; otherwise 0
	recording recording
	policies  []Policy // one per worker, of a kind
	kind      string
	now       func() time.Time
}

// Counts are what a run has done so far, over all processes that continued it.
type Counts struct {
	Iterations int           `json:"iterations"`
	Gated      int           `json:"gated"` // gates passed
	Games      int           `json:"games"` // games that ended
	Moves      int           `json:"moves"` // choices made
	Rows       int           `json:"rows"`  // afterstates learned from
	Visited    uint64        `json:"visited"`
	Loss       float64       `json:"loss"`  // of the last rollout
	Spent      time.Duration `json:"spent"` // playing and fitting
	CPU        time.Duration `json:"cpu"`   // of this process in that time; workers have their own
	Gating     time.Duration `json:"gating"`
	LastGate   time.Duration `json:"last_gate"`
}

// Streams separate the seeds of games and of the order of rows from all others.
const (
	gameStream = 0x67616d65
	soloStream = 0x736f6c6f // games of one seat
	rowStream  = 0x726f7773
)

// New begins a run; see Algorithm.Start for from.
func New(g *games.Game, a Algorithm, from *mlp.Net, workers int) (*Run, error) {
	if err := a.Check(g); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	r := newRun(g, a, workers)
	if want := r.Options.Sizes(g); from != nil && !slices.Equal(network.Sizes(from), want) {
		return nil, fmt.Errorf("%s: the net to start from has layers of sizes %v, the run's have %v: "+
			"set the hidden ones alike", g.Rules.Name, network.Sizes(from), want)
	}
	var err error
	if r.Learner, err = a.Start(r, from, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	ro := r.Learner.Rollout()
	for _, s := range r.Slots {
		s.start(&ro)
	}
	return r, nil
}

func newRun(g *games.Game, a Algorithm, workers int) *Run {
	o, stream := *a.Common(), uint64(gameStream)
	if g.Solo != nil {
		stream = soloStream
	}
	r := &Run{Game: g, Options: o, Workers: max(1, workers), Settings: a, now: time.Now}
	for i := range o.Games {
		s := newSlot(g, o.OpponentNames(), i)
		s.Rand.Seed(env.Derive(o.Seed^stream, uint64(i)))
		r.Slots = append(r.Slots, s)
	}
	return r
}

// Close frees what the learner holds and closes the file of records.
func (r *Run) Close() error {
	err := r.Learner.Close()
	if out := r.recording.out; out != nil {
		err = errors.Join(err, out.Close())
	}
	return err
}

// Net is the net that is gated and saved, as of the last fit.
func (r *Run) Net() *mlp.Net { return r.Learner.Net() }

// Shuffle returns the generator that orders the rows of this iteration.
func (r *Run) Shuffle() *rand.Rand {
	return rand.New(rand.NewPCG(r.Options.Seed^rowStream, uint64(r.Counts.Iterations)))
}

// Step plays one rollout and learns from it. It cannot be stopped on the way.
func (r *Run) Step() error { return r.step(context.Background()) }

func (r *Run) step(ctx context.Context) error {
	began := r.now()
	used, _ := program.CPU() // 0 if it is not known
	next, err := r.Settings.Next(r, r.Learner)
	if err != nil {
		return err
	}
	r.Learner = next
	if err := r.Play(ctx, next.Rollout()); err != nil {
		return err
	}
	played := r.now()
	if err := next.Fit(); err != nil {
		return err
	}
	r.Played += played.Sub(began)
	r.Fitted += r.now().Sub(played)
	r.Counts.Iterations++
	r.Counts.Spent += r.now().Sub(began)
	now, _ := program.CPU()
	r.Counts.CPU += now - used
	return nil
}

// ErrReturned says that a run has returned to an earlier state.
var ErrReturned = errors.New("the run continues from an earlier state")

// Go steps and gates until the budget is spent or ctx ends, which is no error; after is called after each.
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
		} else if err := r.step(ctx); err != nil && !errors.Is(err, ErrReturned) {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				return nil
			}
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
