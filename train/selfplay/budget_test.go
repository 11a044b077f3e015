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

	"blockyard/env/envtest"
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

// A budget of iterations does not depend on time: all games of every gate are played.
func TestIterationBudgetHasWholeGates(t *testing.T) {
	s := newStub(Options{Seed: 1, Games: 1, Iterations: 9, Gates: 3}, 1)
	s.perGame = time.Hour
	r := s.start()
	require.NoError(t, r.Go(t.Context(), nil))
	require.Equal(t, []int{100, 100, 100}, s.played)
	require.Equal(t, 9, r.Counts.Iterations)
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
