package cluster

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"time"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/mlp"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// lying is what a worker plays that changes its results.
func lying(change func(t *testing.T, data []byte) []byte, t *testing.T) map[string]fleet.Kind {
	return map[string]fleet.Kind{Kind: func(ctx context.Context, r *fleet.Run, get fleet.Get) (fleet.NewPlayer, error) {
		players, err := Open(settings)(ctx, r, get)
		return func() (fleet.Player, error) {
			play, err := players()
			return func(ctx context.Context, spec json.RawMessage) (*fleet.Result, error) {
				result, err := play(ctx, spec)
				if err == nil {
					result.Data = change(t, result.Data)
				}
				return result, err
			}, err
		}, err
	}}
}

// inFirst changes the notes of a task's first slot.
func inFirst(change func(r *selfplay.Result, tensors []mlp.Tensor)) func(*testing.T, []byte) []byte {
	return func(t *testing.T, data []byte) []byte {
		var files [][]byte
		for n := 1; ; n++ {
			var err error
			if files, err = unpackResults(data, n); err == nil {
				break
			}
		}
		r, tensors, err := selfplay.ReadResult(files[0])
		require.NoError(t, err)
		change(r, tensors)
		files[0], err = selfplay.AppendResult(nil, r, tensors)
		require.NoError(t, err)
		return packResults(files)
	}
}

// number changes the last number of all tensors.
func number(to func(float32) float32) func(*testing.T, []byte) []byte {
	return inFirst(func(_ *selfplay.Result, tensors []mlp.Tensor) {
		data := tensors[len(tensors)-1].Data
		data[len(data)-1] = to(data[len(data)-1])
	})
}

// A worker that sends numbers that are not finite, damaged results, or results that only playing again shows to be wrong,
// is excluded by its name; others play its tasks, and the weights are those of a run without it.
func TestLyingWorkers(t *testing.T) {
	alone := newRun(t, small())
	require.NoError(t, alone.Go(t.Context(), nil))
	for name, c := range map[string]struct {
		change func(*testing.T, []byte) []byte
		verify float64
		says   string
	}{
		"NaN":       {number(func(float32) float32 { return float32(math.NaN()) }), 0, "the number NaN is not finite"},
		"Inf":       {number(func(float32) float32 { return float32(math.Inf(-1)) }), 0, "the number -Inf is not finite"},
		"truncated": {func(_ *testing.T, b []byte) []byte { return b[:len(b)-1] }, 0, "are there"},
		"another slot": {inFirst(func(r *selfplay.Result, _ []mlp.Tensor) { r.Slot = 77 }), 0,
			"the result of iteration 0, slot 77; want"},
		"labels": {number(func(x float32) float32 { return 1 - x }), 1, "differs from what the learner plays"},
		"random state": {inFirst(func(r *selfplay.Result, _ []mlp.Tensor) { r.End.Word = "7" }), 1,
			"differs from what the learner plays"},
	} {
		t.Run(name, func(t *testing.T) {
			s, run := newSite(t), newRun(t, small())
			l, err := NewLearner(t.Context(), &broker.Site{Conn: s.Conn}, run,
				fleet.Limits{AckWait: time.Minute, Deliveries: 2}, c.verify, fleet.Options{Folder: t.TempDir(), Log: quiet})
			require.NoError(t, err)
			run.Remote = l.Play
			played := make(chan error, 1)
			go func() { played <- run.Go(t.Context(), nil) }()
			err = fleet.Work(t.Context(), s.connect(t), fleet.WorkerOptions{Name: "liar", Threads: 1,
				Kinds: lying(c.change, t), Counts: new(fleet.WorkerCounts), Log: quiet})
			require.ErrorIs(t, err, fleet.ErrRefused)
			require.ErrorContains(t, err, "excluded: its result of task ")
			require.ErrorContains(t, err, c.says)
			left := s.work(t, t.Context(), "honest")
			require.NoError(t, <-played)
			require.Equal(t, weights(t, alone.Net()), weights(t, run.Net()))
			rows := l.Workers()
			require.Equal(t, "liar", rows[1].Name)
			require.Zero(t, rows[1].Tasks)
			require.NoError(t, l.Close(true))
			require.NoError(t, <-left)
		})
	}
}

// A learner that verifies everything accepts what honest workers play, of every kind of rollout.
func TestHonestWorkersAreVerified(t *testing.T) {
	alone, together := newRun(t, small()), newRun(t, small())
	require.NoError(t, alone.Go(t.Context(), nil))
	s := newSite(t)
	l, err := NewLearner(t.Context(), &broker.Site{Conn: s.Conn}, together,
		limits, 1, fleet.Options{Folder: t.TempDir(), Log: quiet})
	require.NoError(t, err)
	together.Remote = l.Play
	left := s.work(t, t.Context(), "honest")
	require.NoError(t, together.Go(t.Context(), nil))
	require.Positive(t, l.verifying)
	require.Equal(t, weights(t, alone.Net()), weights(t, together.Net()))
	require.NoError(t, l.Close(true))
	require.NoError(t, <-left)
}
