package selfplay

import (
	"context"
	"slices"
	"sync"

	"blockyard/agents/mlp"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/train/games"
)

// A Rollout is how some steps of all games are played; with the settings and a slot, all that these depend on.
type Rollout struct {
	Kind     string   // of policy; see Algorithm.Policy
	Net      *mlp.Net `json:"-"` // that the policy plays by
	Steps    int      // of each game
	Late     float64  // share of games that start from a late or damaged position
	Versus   float64  // share of games in which an opponent has one seat; see Options.Opponents
	Baseline bool     // the baseline has all seats
	Longest  int      // steps after which a game is left for a new one; 0 for never

	// Ahead is how many of the following rollouts are played in the same way, whatever is learned.
	Ahead int `json:"-"`

	record bool
}

// A Policy chooses for one worker. What it notes belongs to the slot, whoever plays it.
type Policy interface {
	// Start sets the net and the settings of the rollouts that follow.
	Start(ro *Rollout)
	// Begin gives the slot empty notes of the policy's own type, for a new rollout.
	Begin(s *Slot)
	// Choose returns the choice of a seat that has to act.
	Choose(s *Slot, seat int) env.Action
	// End is called when the slot's game is over, before the next one starts.
	End(s *Slot)
	// Cut is called when the game is left unfinished and when the rollout ends.
	Cut(s *Slot)
	// TakeVisited returns how many afterstates were evaluated since the last call.
	TakeVisited() uint64
}

// Notes are what a policy noted in the last rollout of one slot.
type Notes interface {
	// Tensors returns all that was noted. They share memory with the notes.
	Tensors() []mlp.Tensor
	// SetTensors replaces the notes by Tensors of perhaps another process, and refuses what no policy notes.
	SetTensors(tensors []mlp.Tensor) error
}

// A Slot is a place in which one game after another is played. All its randomness comes from its own generator.
type Slot struct {
	Index    int
	State    env.State
	Rand     env.Rand
	Opponent [env.MaxSeats]uint8 // who plays each seat: 0 is the learner, k the k-th opponent
	Notes    Notes               // of the last rollout; nil before the first
	Ended    int                 // games that ended in it
	Moves    int                 // choices made in it

	game      *games.Game
	opponents []string // their names, one at least
	age       int      // steps of this game
	visited   uint64   // afterstates evaluated in this rollout
	record    *record.Record
	played    []*record.Record // games that ended in this rollout
}

func newSlot(g *games.Game, opponents []string, index int) *Slot {
	return &Slot{Index: index, game: g, opponents: opponents, State: g.Rules.New(g.Rules.MinSeats)}
}

// Chance is true with probability p. It draws nothing if p is 0.
func (s *Slot) Chance(p float64) bool {
	return p > 0 && float64(s.Rand.Next()>>11)*(1./(1<<53)) < p
}

func (s *Slot) start(ro *Rollout) {
	seed := s.Rand.Next()
	s.State.Reset(seed)
	s.age = 0
	late := s.Chance(ro.Late)
	if late {
		s.game.Damage(s.State, &s.Rand)
	}
	s.Opponent = [env.MaxSeats]uint8{}
	if !ro.Baseline && s.Chance(ro.Versus) {
		seat := s.Rand.Next() % uint64(s.game.Rules.MinSeats)
		s.Opponent[seat] = 1
		if n := uint64(len(s.opponents)); n > 1 { // one is not drawn
			s.Opponent[seat] += uint8(s.Rand.Next() % n)
		}
	}
	s.record = nil
	if ro.record {
		s.record = s.newRecord(seed, late, ro.Baseline)
	}
}

// newRecord returns the record of a game that has just been started, or nil if its start cannot be encoded.
func (s *Slot) newRecord(seed uint64, late, baseline bool) *record.Record {
	var names []string
	for _, k := range s.Opponent[:s.game.Rules.MinSeats] {
		switch {
		case baseline:
			names = append(names, "hand:ply=1")
		case k > 0:
			names = append(names, s.opponents[k-1]+":ply=1")
		default:
			names = append(names, "net in training")
		}
	}
	rec := record.New(s.game.Rules, seed, names)
	if late {
		start, err := env.Encode(nil, s.State)
		if err != nil {
			return nil
		}
		rec.Start = start
	}
	return rec
}

// Play plays a rollout, the slots shared out among the workers. If it fails, or ctx ends, the run is as before.
func (r *Run) Play(ctx context.Context, ro Rollout) error {
	ro.record = r.recording.out != nil
	if r.Remote != nil {
		slots, err := r.Remote(ctx, r, ro)
		if err != nil {
			return err
		}
		r.Slots = slots
	} else {
		policies, err := r.Policies(&ro)
		if err != nil {
			return err
		}
		before := make([]*Slot, len(r.Slots))
		for i, s := range r.Slots {
			before[i] = s.clone()
		}
		next := make(chan *Slot, len(r.Slots))
		for _, s := range r.Slots {
			next <- s
		}
		close(next)
		var playing sync.WaitGroup
		for _, p := range policies {
			playing.Go(func() {
				for s := range next {
					s.play(ctx, p, &ro)
				}
			})
		}
		playing.Wait()
		if err := ctx.Err(); err != nil {
			r.Slots = before
			return err
		}
	}
	for _, s := range r.Slots {
		r.Counts.Games += s.Ended
		r.Counts.Moves += s.Moves
		r.Counts.Visited += s.visited
		for _, rec := range s.played {
			r.recording.add(rec)
		}
		s.played = nil
	}
	return nil
}

// Policies returns a policy per worker for the rollout, those of the last call if its kind is the same.
func (r *Run) Policies(ro *Rollout) ([]Policy, error) {
	if r.kind != ro.Kind {
		r.policies, r.kind = nil, ro.Kind
	}
	for len(r.policies) < r.Workers {
		p, err := r.Settings.Policy(r.Game, ro)
		if err != nil {
			return nil, err
		}
		r.policies = append(r.policies, p)
	}
	for _, p := range r.policies {
		p.Start(ro)
	}
	return r.policies, nil
}

// clone returns a slot that goes on as s does. It has no notes.
func (s *Slot) clone() *Slot {
	c := newSlot(s.game, s.opponents, s.Index)
	c.State.CopyFrom(s.State)
	c.Rand, c.Opponent, c.age = s.Rand, s.Opponent, s.age
	if s.record != nil {
		rec := *s.record // s appends to its own
		rec.Choices = slices.Clip(rec.Choices)
		c.record = &rec
	}
	return c
}

// play plays a rollout, or the beginning of one if ctx ends.
func (s *Slot) play(ctx context.Context, p Policy, ro *Rollout) {
	s.Ended, s.Moves = 0, 0
	if !ro.record {
		s.record = nil
	}
	p.TakeVisited()
	p.Begin(s)
	for n := 0; n < ro.Steps && ctx.Err() == nil; n++ {
		acting, m := s.State.Acting(), env.NoMoves
		for set := acting; set != 0; set = set.Rest() {
			seat := set.First()
			m[seat] = p.Choose(s, seat)
			s.Moves++
		}
		if s.record != nil {
			s.record.Add(acting, m)
		}
		s.State.Step(m)
		s.age++
		if s.State.Acting() == 0 {
			s.Ended++
			if s.record != nil {
				s.record.End(s.State)
				s.played = append(s.played, s.record)
			}
			p.End(s)
		} else if ro.Longest == 0 || s.age < ro.Longest {
			continue
		} else {
			p.Cut(s)
		}
		s.start(ro)
	}
	p.Cut(s)
	s.visited = p.TakeVisited()
}
