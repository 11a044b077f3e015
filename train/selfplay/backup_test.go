package selfplay

import (
	"context"
	"path/filepath"
	"testing"

	"blockyard/env"
	"blockyard/train/task"

	"github.com/stretchr/testify/require"
)

// backed is a run of a second or so, most of it a backup, then an actor.
func backed(seed uint64) Config {
	c := small(seed)
	c.Warm, c.Backup, c.Actor, c.Samples, c.Rounds = 0, 0.75, 0.25, 2, 32
	c.Games, c.DeepWidth = 4, 3
	return c
}

func TestBackupSameSeedSameWeights(t *testing.T) {
	var got [][]byte
	for _, x := range []struct {
		seed    uint64
		workers int
	}{{1, 1}, {1, 3}, {2, 1}} {
		r := open(t, backed(x.seed), x.workers)
		require.NoError(t, r.Go(context.Background(), nil))
		require.NotZero(t, r.Counts.Pairs, "the actor has its share")
		got = append(got, weights(t, r))
	}
	require.Equal(t, got[0], got[1], "with more workers")
	require.NotEqual(t, got[0], got[2], "another seed")
}

func TestBackupResumeLosesNothing(t *testing.T) {
	whole := open(t, backed(5), 1)
	require.NoError(t, whole.Go(context.Background(), nil))
	path := filepath.Join(t.TempDir(), "state")
	r := open(t, backed(5), 1)
	for !r.Done() {
		ctx, cancel := context.WithCancel(context.Background())
		require.NoError(t, r.Go(ctx, func(bool) error { cancel(); return nil }))
		cancel()
		require.NoError(t, r.Save(path))
		var err error
		r, err = Resume(task.BlockBattle, path, 2)
		require.NoError(t, err)
		defer func(r *Run) { require.NoError(t, r.Close()) }(r)
	}
	require.Equal(t, weights(t, whole), weights(t, r))
	want, _ := whole.trainer.State()
	got, _ := r.trainer.State()
	require.Equal(t, want, got)
}

// What looking a choice further brings, beyond what it brings everywhere, is learnt: the
// net comes nearer to it than the base is, on rows it has not seen either.
func TestBackupLearns(t *testing.T) {
	c := backed(4)
	c.Games, c.Rounds, c.Iterations, c.Backup, c.Actor, c.Mean, c.Gates, c.Hidden = 16, 64, 24, 1, 0, 5, 1, []int{16}
	r := open(t, c, 2)
	base := r.backup.base
	for range c.Iterations - 1 {
		require.NoError(t, r.Step())
	}
	require.Same(t, base, r.backup.base, "it stands still until a gate")
	r.play(r.deal())
	r.study()
	before, after := make([]float32, r.rows.Len()), make([]float32, r.rows.Len())
	base.Forward(r.rows.X, len(before), before)
	r.net.Forward(r.rows.X, len(after), after)
	residual := func(values []float32) (sum float64) {
		for i, v := range values {
			d := float64(v - r.rows.Y[i])
			sum += d * d
		}
		return sum
	}
	require.Greater(t, r.rows.Len(), 100)
	require.Less(t, residual(after), 0.9*residual(before))
}

// The mean over draws is that of the search written out.
func TestAheadGoesThroughAllDraws(t *testing.T) {
	r := open(t, backed(6), 1)
	c := r.players[0]
	c.use(r.Net())
	var rand env.Rand
	rand.Seed(3)
	s, third := r.Game.Rules.New(2), r.Game.Rules.New(2)
	for range 20 {
		s.Reset(rand.Next())
		r.Game.Damage(s, &rand)
		c.open(&c.root, s, 0)
		if c.root.live == 0 {
			continue
		}
		k := int(rand.Next() % uint64(c.root.live))
		a := c.root.legal[c.root.slot[k]]
		legal := c.root.states[k].Legal(0, nil)
		b := legal[rand.Next()%uint64(len(legal))]
		got, want := c.ahead(s, 0, a, b), float32(0)
		for p := range 7 {
			third.CopyFrom(s)
			third.Force([]uint16{uint16(p)})
			env.After(third, 0, a)
			env.After(third, 0, b)
			v := float32(-floor)
			if third.Acting() != 0 {
				v = max(c.second(third, 0), -floor)
			}
			want += min(v, floor) / 7
		}
		require.InDelta(t, want, got, 1e-4)
	}
}

func TestBackupRefuses(t *testing.T) {
	for says, f := range map[string]func(*Config){
		"no warm start":    func(c *Config) { c.Warm = 0.1 },
		"backup is":        func(c *Config) { c.Backup = 1.5 },
		"0 samples":        func(c *Config) { c.Samples = 0 },
		"learning rate 0":  func(c *Config) { c.RateBackup = 0 },
		"one hidden layer": func(c *Config) { c.Hidden = []int{8, 8} },
	} {
		c := backed(1)
		f(&c)
		_, err := New(task.BlockBattle, c, nil, 1)
		require.ErrorContains(t, err, says)
	}
	alone := *task.BlockBattle
	alone.Outcomes = 0
	_, err := New(&alone, backed(1), nil, 1)
	require.ErrorContains(t, err, "no draws")
}
