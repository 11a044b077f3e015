package cluster

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"blockyard/agents/fleet"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
)

// lying is what a worker plays that changes every n-th of its results, each a rollout of one slot.
func lying(n int, change func(r *selfplay.Result, tensors []mlp.Tensor)) fleet.Kind {
	all := 0
	return func(ctx context.Context, r *fleet.Run, get fleet.Get) (fleet.NewPlayer, error) {
		players, err := Open(settings)(ctx, r, get)
		return func() (fleet.Player, error) {
			play, err := players()
			return func(ctx context.Context, spec json.RawMessage) (*fleet.Result, error) {
				result, err := play(ctx, spec)
				if err != nil {
					return nil, err
				}
				files := envtest.Must(unpackResults(result.Data, len(envtest.Must(parseTask(spec)).Starts)))
				for k := range files {
					if all++; all%n == 0 {
						r, tensors := envtest.Must2(selfplay.ReadResult(files[k]))
						change(r, tensors)
						files[k] = envtest.Must(selfplay.AppendResult(nil, r, tensors))
					}
				}
				result.Data = packResults(files)
				return result, nil
			}, err
		}, err
	}
}

// number changes the last number of all tensors.
func number(to func(float32) float32) func(*selfplay.Result, []mlp.Tensor) {
	return func(_ *selfplay.Result, tensors []mlp.Tensor) {
		data := tensors[len(tensors)-1].Data
		data[len(data)-1] = to(data[len(data)-1])
	}
}

// wrong is a label as it is not.
func wrong(x float32) float32 { return 1 - x }

// A worker that sends numbers that are not finite, damaged results, or results that only playing again shows to be wrong,
// is excluded by its name; others play its tasks, and the weights are those of a run without it.
func TestLyingWorkers(t *testing.T) {
	alone := newRun(t, small())
	require.NoError(t, alone.Go(t.Context(), nil))
	for name, c := range map[string]struct {
		change func(*selfplay.Result, []mlp.Tensor)
		verify float64
		says   string
	}{
		"NaN": {number(func(float32) float32 { return float32(math.NaN()) }), 0, "the number NaN is not finite"},
		"another slot": {func(r *selfplay.Result, _ []mlp.Tensor) { r.Slot = 77 }, 0,
			"the result of iteration 0, slot 77; want"},
		"labels": {number(wrong), 1, "differs from what the learner plays"},
		"random state": {func(r *selfplay.Result, _ []mlp.Tensor) { r.End.Word = "7" }, 1,
			"differs from what the learner plays"},
	} {
		t.Run(name, func(t *testing.T) {
			s, run := newSite(t), newRun(t, small())
			l := s.learner(t, run, t.TempDir(), limits, c.verify)
			l.took = time.Hour // who is to play all again has always the time
			played := make(chan error, 1)
			go func() { played <- run.Go(t.Context(), nil) }()
			err := <-s.work(t, t.Context(), "liar", lying(1, c.change))
			require.ErrorIs(t, err, fleet.ErrRefused)
			require.ErrorContains(t, err, "excluded: its result of task ")
			require.ErrorContains(t, err, c.says)
			left := s.work(t, t.Context(), "honest", nil)
			require.NoError(t, <-played)
			require.Equal(t, weights(alone.Net()), weights(run.Net()))
			rows := l.Workers()
			require.Equal(t, "liar", rows[1].Name)
			require.Zero(t, rows[1].Tasks)
			if c.verify == 1 {
				require.Equal(t, run.Options.Games*run.Options.Iterations, rows[0].Verified, "all that an honest one has played")
				require.Greater(t, l.took, time.Hour)
			}
			require.NoError(t, l.Close(true))
			require.NoError(t, <-left)
		})
	}
}

// A worker that differs once has all its results played by others, whatever share of them is false and however many were
// learned from before it was found: the weights, the files and the counts are those of a run without it. So they are if
// the learner is killed as soon as it has found out.
func TestFalseResultsAreReplaced(t *testing.T) {
	o := small()
	o.Games, o.Results, o.Backup = 12, 0.7, 0.3
	for name, c := range map[string]struct {
		every  int // result is false
		killed bool
	}{
		"100 %": {1, false}, "10 %": {10, false}, "2 %": {50, false}, "10 %, killed": {10, true},
	} {
		t.Run(name, func(t *testing.T) {
			alone, together := newRun(t, o), newRun(t, o)
			want, folder := t.TempDir(), t.TempDir()
			goInto(t, alone, want)
			s := newSite(t)
			l := s.verifying(t, together, folder)
			results := 0
			l.draw = func() float64 { // a result of the last quarter is the next one that is played again
				if results++; results > 3*o.Games*o.Iterations/4 {
					return 0
				}
				return 1
			}
			first := s.work(t, t.Context(), "liar", lying(c.every, number(wrong)))
			left := make(chan (<-chan error), 1)
			go func() {
				err := <-first
				assert.ErrorIs(t, err, fleet.ErrRefused)
				assert.ErrorContains(t, err, "differs from what the learner plays")
				left <- s.work(t, t.Context(), "honest", nil)
			}()
			if c.killed {
				for { // it learns of nothing after the result was found to be false
					err := together.Step()
					if err != nil {
						require.ErrorIs(t, err, selfplay.ErrReturned)
						break
					}
					require.NoError(t, together.Save(filepath.Join(folder, selfplay.StateFile)))
				}
				require.NoError(t, l.Close(false))
				require.Positive(t, saved(t, folder).Counts.Iterations)
				together = saved(t, folder)
				require.Equal(t, []string{"liar"}, together.Unverified)
				l = s.verifying(t, together, folder)
				require.Zero(t, together.Counts.Iterations)
				require.True(t, l.Excluded("liar"))
			}
			goInto(t, together, folder)
			require.Equal(t, weights(alone.Net()), weights(together.Net()))
			require.Equal(t, c.every > 1, l.returns > 0, "the first result is played again, before others count")
			require.Equal(t, alone.Counts.Visited, together.Counts.Visited)
			for _, name := range []string{selfplay.BestFile, "net-001.safetensors", "net-002.safetensors"} {
				ours := envtest.Must(os.ReadFile(filepath.Join(want, name)))
				require.Equal(t, ours, envtest.Must(os.ReadFile(filepath.Join(folder, name))), name)
			}
			rows := l.Workers()
			require.Equal(t, "liar", rows[1].Name)
			require.Zero(t, rows[1].Tasks)
			require.Equal(t, alone.Counts.Moves, rows[0].Moves, "of honest")
			require.NoError(t, l.Close(true))
			require.NoError(t, <-<-left)
		})
	}
}

// How likely it is that a worker goes unnoticed is what the table in the documentation says.
func TestChanceUnnoticed(t *testing.T) {
	page := envtest.Must(os.ReadFile("../README.md"))
	v := newVerifier(0.02, "")
	for share, says := range map[float64]string{
		0:    "| played again, on average | 19 | 35 | 215 |",
		0.02: "| unnoticed if 2 % are false | 68 % | 49 % | 1.3 % |",
		0.1:  "| unnoticed if 10 % are false | 14 % | 2.8 % | 4e-10 |",
		1:    "| unnoticed if all are false | 0 % | 0 % | 0 % |",
	} {
		require.Contains(t, string(page), says)
		cells := regexp.MustCompile(`\| ([\d.e-]+)( %)? `).FindAllStringSubmatch(says[1:], -1)
		cells = cells[len(cells)-3:]
		for k, results := range []int{200, 1000, 10000} {
			expected, chance := 0.0, 1.0 // by the rule
			for n := 1; n <= results; n++ {
				q := max(0.02, min(1, firstVerified/float64(n)))
				expected, chance = expected+q, chance*(1-share*q)
				v.draw = func() float64 { return q - 1e-9 }
				due := v.due(n)
				v.draw = func() float64 { return q }
				if !due || v.due(n) != (n <= firstVerified) {
					t.Fatalf("result %d is not played again with the probability %v", n, q)
				}
			}
			said := envtest.Must(strconv.ParseFloat(cells[k][1], 64))
			if share == 0 {
				require.InDelta(t, expected, said, 0.5)
				continue
			}
			if cells[k][2] != "" {
				said /= 100
			}
			require.InEpsilon(t, 1+chance, 1+said, 0.005)
		}
	}
	v.share = 0
	require.False(t, v.due(1))
	v.share, v.took = 1, time.Since(time.Time{})
	require.True(t, v.due(1000), "all, whatever time that takes")
	v.share = 0.5
	v.draw = func() float64 { return 0 }
	require.True(t, v.due(firstVerified), "the first ones too")
	require.False(t, v.due(firstVerified+1), "it takes too much of the learner's time")
}

// verifying lets workers play for a run whose learner plays some of the results again, as many as it likes.
func (s *site) verifying(t *testing.T, r *selfplay.Run, folder string) *Learner {
	l := s.learner(t, r, folder, fleet.Limits{AckWait: long, Deliveries: 100}, 0.02)
	l.began = time.Time{}
	return l
}

// goInto plays a run to its end, with its files in a folder.
func goInto(t *testing.T, r *selfplay.Run, folder string) {
	f := envtest.Must(selfplay.OpenFolder(folder, r))
	require.NoError(t, r.Go(t.Context(), f.After))
	require.NoError(t, f.Close())
}

// saved is the run in a folder.
func saved(t *testing.T, folder string) *selfplay.Run {
	r := envtest.Must(selfplay.Resume(games.BlockBattle, filepath.Join(folder, selfplay.StateFile), new(phases.Config), 1))
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

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
