package selfplay

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/envtest"
	task "blockyard/train/games"
)

// A budget of time is that of the whole run, however much its gates would take, and gates
// are played to the end if there is time for them.
func TestTimeBudgetIncludesGates(t *testing.T) {
	for name, c := range map[string]struct {
		perGame  time.Duration
		gates    int
		min, max int // games of a gate
	}{
		"quick gates": {time.Millisecond, 5, 100, 100},
		"slow gates":  {time.Second, 5, 10, 11}, // 50 of the 200 seconds are theirs
		"one gate":    {time.Second, 1, 50, 51},
		"slow games":  {45 * time.Second, 1, 2, 2},
	} {
		s := newStub(Options{Seed: 1, Games: 1, For: 200 * time.Second, Gates: c.gates}, 1)
		s.perGame = c.perGame
		r := s.start()
		require.NoError(t, r.Go(t.Context(), nil))
		took := s.clock.Sub(time.Time{})
		require.InDelta(t, 200, took.Seconds(), 0.25*200, name)
		if c.perGame <= time.Second {
			require.InDelta(t, 200, took.Seconds(), 5, name)
		}
		require.Len(t, s.played, c.gates, name)
		require.GreaterOrEqual(t, slices.Min(s.played), c.min, name)
		require.LessOrEqual(t, slices.Max(s.played), c.max, name)
		require.Equal(t, took, r.Counts.Spent+r.Counts.Gating, name)
		require.Equal(t, c.gates, r.Counts.Gated)
	}
}

// A gate that lasts longer than a part of the budget stands for the ones it ran into, and
// training goes on between gates.
func TestLongGatesDoNotPileUp(t *testing.T) {
	s := newStub(Options{Seed: 1, Games: 1, For: 100 * time.Second, Gates: 10}, 1)
	s.perGame = 30 * time.Second
	r, gated := s.start(), false
	require.NoError(t, r.Go(t.Context(), func(gate bool) error {
		require.False(t, gate && gated, "two gates of the same net")
		gated = gate
		return nil
	}))
	require.True(t, r.Done())
	require.Less(t, s.clock.Sub(time.Time{}), 150*time.Second)
	require.Equal(t, 10, r.Counts.Gated)
}

// A budget of iterations does not depend on time: all games of every gate are played. The last stage may be longer.
func TestIterationBudgetHasWholeGates(t *testing.T) {
	for last, want := range map[int][]int{0: {4, 8, 12}, 1: {4, 8, 12}, 2: {3, 6, 12}, 10: {1, 2, 12}, 22: {1, 1, 12}} {
		s := newStub(Options{Seed: 1, Games: 1, Iterations: 12, Gates: 3, LastStage: last}, 1)
		s.perGame = time.Hour
		r, gates := s.start(), []int(nil)
		require.NoError(t, r.Go(t.Context(), func(gate bool) error {
			if gate {
				gates = append(gates, r.Counts.Iterations)
			}
			part, _ := r.StagePart()
			require.True(t, part >= 0 && part < 1 || r.Done() || r.GateDue(), "%v after %d", part, r.Counts.Iterations)
			return nil
		}))
		require.Equal(t, []int{100, 100, 100}, s.played)
		require.Equal(t, want, gates)
	}
}

// A run that returns to an earlier state goes on from there. What gates have written since is gone; the best network and
// the curve are those of the gates before. A state of another run changes nothing.
func TestReturn(t *testing.T) {
	r := newStub(Options{Seed: 1, Games: 2, Iterations: 12, Gates: 4}, 1).start()
	dir := t.TempDir()
	other, before := filepath.Join(dir, "other"), filepath.Join(dir, "before")
	require.NoError(t, r.Save(other))
	text := envtest.Must(os.ReadFile(other))
	require.NoError(t, os.WriteFile(other, bytes.Replace(text, []byte("blockbattle"), []byte("blockbottle"), 1), 0o600))
	f := envtest.Must(OpenFolder(dir, r))
	file := func(name string) string { return string(envtest.Must(os.ReadFile(filepath.Join(dir, name)))) }
	gates, curve := 0, ""
	r.Remote = func(context.Context, *Run, Rollout) ([]*Slot, error) {
		switch {
		case r.Counts.Iterations == 7 && curve == "":
			curve = file(CurveFile)
			require.Error(t, r.Return(other))
			require.Equal(t, 7, r.Counts.Iterations)
			return r.Slots, r.Save(before)
		case r.Counts.Iterations == 11 && r.Counts.Gated == 3 && gates == 3:
			require.NoError(t, r.Return(before))
			return nil, fmt.Errorf("oops: %w", ErrReturned)
		}
		return r.Slots, nil
	}
	require.NoError(t, r.Go(t.Context(), func(gated bool) error {
		returned := r.undone > 0
		if err := f.After(gated); err != nil || !returned {
			gates += map[bool]int{true: 1}[gated]
			return err
		}
		require.Equal(t, []int{7, 2}, []int{r.Counts.Iterations, r.Counts.Gated})
		require.NoFileExists(t, filepath.Join(dir, "net-003.safetensors"))
		require.FileExists(t, filepath.Join(dir, "net-002.safetensors"))
		require.Equal(t, file("net-002.safetensors"), file(BestFile))
		require.Equal(t, curve, file(CurveFile))
		require.Equal(t, file("before"), file(StateFile))
		return nil
	}))
	require.Equal(t, []int{12, 4, 5}, []int{r.Counts.Iterations, r.Counts.Gated, gates})
	require.FileExists(t, filepath.Join(dir, "net-003.safetensors"))
	require.NoError(t, f.Close())
}

// --for takes the place of the iterations of the defaults, not of those that a user gave.
func TestOneBudget(t *testing.T) {
	second, none, five := time.Second, time.Duration(0), 5
	for _, c := range []struct {
		flags Flags
		want  Options
	}{
		{Flags{}, Options{Iterations: 800, Gates: 4}},
		{Flags{For: &second}, Options{For: second, Gates: 1}},
		{Flags{For: &none}, Options{Gates: 1}}, // and Check refuses it
		{Flags{For: &second, Iterations: &five}, Options{For: second, Iterations: five, Gates: 1}},
	} {
		o := Options{Iterations: 800, Gates: 4}
		c.flags.Apply(&o, &o)
		require.Equal(t, c.want, o)
	}
}

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
