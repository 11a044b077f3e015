package phases

import (
	"math"
	"testing"

	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"

	"github.com/stretchr/testify/require"
)

// startBackup begins a small run that is all backup, and returns its learner and a policy.
func startBackup(t *testing.T, seed uint64) (*selfplay.Run, *backupLearner, *backupPolicy) {
	t.Helper()
	c := DefaultBackup()
	c.Seed, c.Hidden, c.Batch, c.Games, c.Rounds, c.Iterations = seed, []int{16}, 32, 16, 64, 24
	c.Mean, c.Explore, c.Late, c.Gates, c.Samples, c.DeepWidth, c.Versus = 5, 0.1, 0.3, 1, 2, 3, 0.5
	r, err := selfplay.New(games.BlockBattle, &c, nil, 2)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	l := r.Learner.(*backupLearner)
	ro := l.Rollout()
	policies, err := r.Policies(&ro)
	require.NoError(t, err)
	return r, l, policies[0].(*backupPolicy)
}

// What searching a ply further changes, beyond what it changes everywhere, is learned: the
// net comes nearer to it than the base is, on rows it has not seen either.
func TestBackupLearns(t *testing.T) {
	r, l, _ := startBackup(t, 4)
	base := l.base
	for range r.Options.Iterations - 1 {
		require.NoError(t, r.Step())
	}
	require.Same(t, base, l.base, "it stands still until a gate")
	require.NoError(t, r.Play(t.Context(), l.Rollout()))
	l.collect()
	before, after := make([]float32, l.Rows.Len()), make([]float32, l.Rows.Len())
	base.Forward(l.Rows.X, len(before), before)
	l.Mean.Forward(l.Rows.X, len(after), after)
	residual := func(values []float32) (sum float64) {
		for i, v := range values {
			d := float64(v - l.Rows.Y[i])
			sum += d * d
		}
		return sum
	}
	require.Greater(t, l.Rows.Len(), 100)
	require.Less(t, residual(after), 0.9*residual(before))
	require.NoError(t, l.Gated())
	require.Same(t, l.Mean, l.base, "a gate ends the stage")
}

// The mean over draws is that of the search written out.
func TestOverDrawsGoesThroughAllDraws(t *testing.T) {
	r, _, c := startBackup(t, 6)
	var rand env.Rand
	rand.Seed(3)
	s, third := r.Game.Rules.New(2), r.Game.Rules.New(2)
	for range 20 {
		a, b, ok := randomPair(c, s, &rand)
		if !ok {
			continue
		}
		got, want := c.overDraws(s, 0, [2]env.Action{a, b}), float32(0)
		for p := range 7 {
			third.CopyFrom(s)
			third.Force([]uint16{uint16(p)})
			env.After(third, 0, a)
			env.After(third, 0, b)
			v := float32(-maxWorth)
			if third.Acting() != 0 {
				v = max(c.BestWorth(&c.Leaf, third, 0), -maxWorth)
			}
			want += min(v, maxWorth) / 7
		}
		require.InDelta(t, want, got, 1e-4)
	}
}

// With log odds, the mean over draws is that of probabilities: a draw that loses counts as much as its probability, and
// not as the log odds of a lost game.
func TestMeanOfLogOdds(t *testing.T) {
	plain, prob := mean{}, mean{logOdds: true}
	for _, m := range []*mean{&plain, &prob} {
		m.add(0, 6)
		m.add(-maxWorth, 1)
	}
	require.InDelta(t, -maxWorth/7.0, plain.value(), 1e-6)
	chance := (6*0.5 + 1/(1+math.Exp(maxWorth))) / 7
	require.InDelta(t, math.Log(chance/(1-chance)), prob.value(), 1e-5)
}

// The changes of each decision have the mean 0, and differ as they did without.
func TestWithinDecision(t *testing.T) {
	_, _, plain := startBackup(t, 6)
	_, _, centered := startBackup(t, 6)
	c := *centered.config
	c.WithinDecision, c.Explore = true, 0
	plain.config, centered.config = &Config{Samples: c.Samples, Look: 1}, &c
	var rand env.Rand
	rand.Seed(8)
	s, n := plain.Game.Rules.New(2), 0
	for range 40 {
		if _, _, ok := randomPair(plain, s, &rand); !ok {
			continue
		}
		var changes [2][]float32
		for i, p := range []*backupPolicy{plain, centered} {
			slot := &selfplay.Slot{State: s}
			slot.Rand.Seed(5)
			p.Begin(slot)
			p.chooseTwoPly(slot, 0)
			changes[i] = slot.Notes.(*samples).change
		}
		require.Len(t, changes[1], len(changes[0]))
		sum := float32(0)
		for i, c := range changes[1] {
			sum += c
			require.InDelta(t, changes[0][i]-changes[0][0], c-changes[1][0], 1e-4)
		}
		require.InDelta(t, 0, sum, 1e-4)
		n += len(changes[1])
	}
	require.Greater(t, n, 40)
}

// randomPair sets s to a damaged position and returns two choices of seat 0 in it, one
// after the other.
func randomPair(c *backupPolicy, s env.State, rand *env.Rand) (a, b env.Action, ok bool) {
	s.Reset(rand.Next())
	c.Game.Damage(s, rand)
	c.Open(&c.Root, s, 0)
	if c.Root.Live == 0 {
		return 0, 0, false
	}
	k := int(rand.Next() % uint64(c.Root.Live))
	legal := c.Root.States[k].Legal(0, nil)
	return c.Root.Legal[c.Root.Choice[k]], legal[rand.Next()%uint64(len(legal))], true
}

// The futures of a decision hold every outcome of every draw once.
func TestDrawFuturesGivesEveryOutcomeOnce(t *testing.T) {
	_, _, c := startBackup(t, 1)
	var rand env.Rand
	rand.Seed(2)
	for look := 2; look < 5; look++ {
		c.drawFutures(&rand, look)
		require.Len(t, c.futures, look)
		for _, draws := range c.futures {
			require.ElementsMatch(t, []uint16{0, 1, 2, 3, 4, 5, 6}, draws)
		}
	}
}

// A search of two plies further is the mean, over the futures, of a two-ply search written
// out; one of three plays the first of these and searches again.
func TestOverFuturesIsTheSearchWrittenOut(t *testing.T) {
	r, _, c := startBackup(t, 6)
	var rand env.Rand
	rand.Seed(5)
	s, then := r.Game.Rules.New(2), r.Game.Rules.New(2)
	searched := 0
	for n := range 16 {
		a, b, ok := randomPair(c, s, &rand)
		if !ok {
			continue
		}
		look := 2 + n%2
		c.drawFutures(&rand, look)
		want := float32(0)
		for f := range 7 {
			then.CopyFrom(s)
			for k, choice := range []env.Action{a, b} {
				then.Force([]uint16{c.futures[k][f]})
				env.After(then, 0, choice)
				if then.Acting() == 0 {
					break
				}
			}
			v := float32(-maxWorth)
			if then.Acting() != 0 {
				choice, worth := slowTwoPly(c, then)
				if v = worth; look == 3 && choice != env.None {
					then.Force([]uint16{c.futures[2][f]})
					env.After(then, 0, choice)
					if v = -maxWorth; then.Acting() != 0 {
						_, v = slowTwoPly(c, then)
					}
				}
			}
			want += min(max(v, -maxWorth), maxWorth) / 7
			searched++
		}
		require.InDelta(t, want, c.overFutures(s, 0, [2]env.Action{a, b}), 1e-4)
	}
	require.Greater(t, searched, 50)
}

// slowTwoPly is twoPly without its shortcuts: all first choices are evaluated and ordered,
// and the first few of them searched.
func slowTwoPly(c *backupPolicy, s env.State) (env.Action, float32) {
	var l afterstate.Ply
	c.Evaluate(&l, s, 0)
	if len(l.Legal) == 0 {
		return env.None, -maxWorth
	}
	at, worth, tried := afterstate.Best(l.Worth), float32(-afterstate.Certain), map[int]bool{}
	for range min(furtherWidth, l.Live) {
		k := -1
		for j := range l.Live {
			if !tried[j] && (k < 0 || l.Out[j] > l.Out[k]) {
				k = j
			}
		}
		tried[k] = true
		if v := c.BestWorth(&c.Leaf, l.States[k], 0); v > worth {
			at, worth = l.Choice[k], v
		}
	}
	return l.Legal[at], worth
}
