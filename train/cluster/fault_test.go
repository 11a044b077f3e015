package cluster

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockyard/agents/fleet"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"

	"github.com/stretchr/testify/require"
)

// A worker that cannot play as the learner does is refused with the reason, and the learner learns it.
func TestRefusedWorkers(t *testing.T) {
	s := newSite(t)
	run := newRun(t, small())
	l := s.learner(t, run, t.TempDir(), limits, 0)
	for says, change := range map[string]func(*fleet.Run){
		"rules of blockbattle in version 99":         func(r *fleet.Run) { r.Facts["rules of blockbattle in version"] = "99" },
		"features of blockbattle with the hash beef": func(r *fleet.Run) { r.Facts["features of blockbattle with the hash"] = "beef" },
		`no game "chess"`:                            func(r *fleet.Run) { r.Game = "chess" },
		`unknown field "Genius"`:                     func(r *fleet.Run) { r.Spec = json.RawMessage(`{"Genius":1}`) },
		"a budget of 0 iterations":                   func(r *fleet.Run) { r.Spec = json.RawMessage(`{}`) },
	} {
		err := <-s.work(t, t.Context(), "other", func(ctx context.Context, r *fleet.Run, get fleet.Get) (fleet.NewPlayer, error) {
			change(r)
			return Open(settings)(ctx, r, get)
		})
		require.ErrorIs(t, err, fleet.ErrRefused, says)
		require.ErrorContains(t, err, says)
	}
	ro := run.Learner.Rollout()
	l.checks[kindOf(ro)] = strings.Repeat("0", 64)
	ctx, cancel := context.WithCancel(t.Context())
	played := make(chan error, 1)
	go func() {
		_, err := l.Play(ctx, run, ro)
		played <- err
	}()
	err := <-s.work(t, t.Context(), "other", nil)
	require.ErrorIs(t, err, fleet.ErrRefused)
	require.ErrorContains(t, err, "its self-test of lambda play gives")
	require.Eventually(t, func() bool {
		all := l.Workers()
		return len(all) == 1 && all[0].State == fleet.Refused
	}, long, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-played, context.Canceled)
	require.NoError(t, l.Close(true))
}

// crash is an algorithm whose policy panics in one slot.
type crash struct{ *phases.Config }

type crashPolicy struct{ selfplay.Policy }

func (c crash) Policy(g *games.Game, ro *selfplay.Rollout) (selfplay.Policy, error) {
	p, err := c.Config.Policy(g, ro)
	return crashPolicy{p}, err
}

func (p crashPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	if s.Index == 2 {
		panic("slot 2 is out of order")
	}
	return p.Policy.Choose(s, seat)
}

// A task that fails in every worker is played slot by slot. The slot that still fails is kept in a file, and the run
// stops and names it.
func TestTaskThatFails(t *testing.T) {
	s, folder := newSite(t), t.TempDir()
	c := small()
	c.Games = 12
	run := newRun(t, c)
	l := s.learner(t, run, folder, fleet.Limits{AckWait: long, Deliveries: 4}, 0)
	require.Equal(t, 3, l.cost.groupSize(c.Games, 1))
	ended := s.work(t, t.Context(), "fragile", Open(func(*games.Game) selfplay.Algorithm { return &crash{new(phases.Config)} }))
	err := run.Go(t.Context(), nil)
	require.ErrorContains(t, err, "task 0-2 was given to workers 4 times and has no result")
	require.ErrorContains(t, err, "worker fragile says: panic: slot 2 is out of order")
	text, readErr := os.ReadFile(filepath.Join(folder, "failed-task-0-2.json"))
	require.NoError(t, readErr)
	require.ErrorContains(t, err, "failed-task-0-2.json")
	var kept struct {
		Task    taskSpec
		Reports []fleet.Trouble
	}
	require.NoError(t, json.Unmarshal(text, &kept))
	require.Equal(t, 2, kept.Task.First)
	require.Len(t, kept.Task.Starts, 1)
	require.Len(t, kept.Reports, 4)
	require.NoError(t, l.Close(true))
	require.NoError(t, <-ended)
}
