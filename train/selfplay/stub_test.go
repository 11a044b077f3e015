package selfplay

import (
	"context"
	"time"

	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/envtest"
	task "blockyard/train/games"
)

// A stub is an algorithm and a learner for which only time passes: a second per rollout, and
// some seconds per game of a gate.
type stub struct {
	clock   time.Time
	perGame time.Duration
	games   int // of a gate
	played  []int
	net     *mlp.Net
	options Options
	rollout Rollout // but for its net
	policy  Policy
}

func (s *stub) now() time.Time { return s.clock }

func (s *stub) Start(*Run, *mlp.Net, *State) (Learner, error) { return s, nil }
func (s *stub) Next(_ *Run, l Learner) (Learner, error)       { return l, nil }
func (s *stub) Restore(*State) error                          { return nil }
func (s *stub) Notes(*Run) map[string]string                  { return map[string]string{} }
func (s *stub) Stage(*Run) string                             { return "stub" }
func (s *stub) Gated() error                                  { return nil }
func (s *stub) Net() *mlp.Net                                 { return s.net }
func (s *stub) Save(*State)                                   {}
func (s *stub) Close() error                                  { return nil }
func (s *stub) Policy(*task.Game, *Rollout) (Policy, error)   { return s.policy, nil }

func (s *stub) Rollout() Rollout {
	ro := s.rollout
	ro.Net = s.net
	return ro
}

// A stubPolicy plays the first legal action and notes nothing.
type stubPolicy struct{}

func (stubPolicy) Start(*Rollout)                             {}
func (stubPolicy) Begin(*Slot)                                {}
func (stubPolicy) End(*Slot)                                  {}
func (stubPolicy) Cut(*Slot)                                  {}
func (stubPolicy) TakeVisited() uint64                        { return 0 }
func (stubPolicy) Choose(slot *Slot, seat int) (a env.Action) { return slot.State.Legal(seat, nil)[0] }

func (s *stub) Common() *Options       { return &s.options }
func (s *stub) Check(*task.Game) error { return nil }

func (s *stub) Fit() error {
	s.clock = s.clock.Add(time.Second)
	return nil
}

func (s *stub) Gate(ctx context.Context, r *Run, p *Point) (bool, error) {
	var m match.Match
	ctx, stop := r.LimitGate(ctx, &m, 1, 0, s.games)
	defer stop()
	n := 0
	for n < s.games && ctx.Err() == nil {
		s.clock = s.clock.Add(s.perGame)
		n++
		m.Progress(n, "")
	}
	s.played = append(s.played, n)
	p.Games, p.Score, p.Kept = n, 0.5, true
	return true, nil
}

// newStub returns a stub whose policy plays rollouts of so many steps.
func newStub(o Options, steps int) *stub {
	net := envtest.Must(selfTestNet([]int{len(task.BlockBattle.Features), 2, 1}))
	return &stub{net: net, options: o, games: 100, rollout: Rollout{Steps: steps}, policy: stubPolicy{}}
}

func (s *stub) start() *Run {
	r := envtest.Must(New(task.BlockBattle, s, nil, 3))
	r.now = s.now
	return r
}

// startStub starts a run that is to be looked at, not played.
func startStub() *Run { return newStub(Options{Seed: 1, Games: 1, Iterations: 9, Gates: 3}, 1).start() }
