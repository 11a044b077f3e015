package phases

import (
	"slices"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"

	"github.com/stretchr/testify/require"
)

// startSiblings begins a small run that is all siblings, and returns its learner and a policy.
func startSiblings(t *testing.T, seed uint64) (*selfplay.Run, *siblingLearner, *siblingPolicy) {
	t.Helper()
	c := Default(games.BlockBattle)
	c.Seed, c.Hidden, c.Batch, c.Games, c.Rounds, c.Iterations = seed, []int{16}, 48, 16, 32, 24
	c.Explore, c.Late, c.Gates, c.Samples, c.Versus, c.Results, c.Backup = 0.1, 0.3, 1, 12, 0.25, 0, 1
	r := open(t, c, 2)
	ro := r.Learner.Rollout()
	policies := envtest.Must(r.Policies(&ro))
	return r, r.Learner.(*siblingLearner), policies[0].(*siblingPolicy)
}

// noteOne has a policy note the decision of seat 0 in a damaged position, or returns false if there are too few pairs.
func noteOne(p *siblingPolicy, s *selfplay.Slot) (*decision, bool) {
	s.State.Reset(s.Rand.Next())
	p.Game.Damage(s.State, &s.Rand)
	p.Begin(s)
	if p.list(s.State, 0); len(p.pairs) < p.config.Samples {
		return nil, false
	}
	p.note(s, 0)
	return &s.Notes.(*decisions).list[0], true
}

func newSlotOf(g *games.Game, seed uint64) *selfplay.Slot {
	s := &selfplay.Slot{State: g.Rules.New(2)}
	s.Rand.Seed(seed)
	return s
}

// The targets are those of the search written out, the mean of the decision subtracted.
func TestSiblingTargets(t *testing.T) {
	r, l, p := startSiblings(t, 6)
	e := envtest.Must(r.Game.Evaluator(l.base))
	s, third, last := newSlotOf(r.Game, 3), r.Game.Rules.New(2), r.Game.Rules.New(2)
	value := make([]float32, 1)
	for range 20 {
		d, ok := noteOne(p, s)
		if !ok {
			continue
		}
		var all [][]float32
		mean, n := float32(0), 0
		for _, pair := range d.pairs {
			var deep []float32
			for o := range 7 {
				third.CopyFrom(s.State)
				third.Force(append([]uint16{uint16(o)}, noDraws[1:]...))
				env.After(third, 0, pair[0])
				third.Force(noDraws[:])
				env.After(third, 0, pair[1])
				best := float32(-afterstate.Certain)
				for _, a := range third.Legal(0, nil) {
					last.CopyFrom(third)
					last.Force(noDraws[:])
					if env.After(last, 0, a); last.Acting() != 0 {
						e.Evaluate([]env.State{last}, 0, value)
						best = max(best, value[0])
					}
				}
				if deep = append(deep, best); best > -afterstate.Certain {
					mean, n = mean+best, n+1
				}
			}
			all = append(all, deep)
		}
		var want []float32
		for _, deep := range all {
			sum := float32(0)
			for _, v := range deep {
				sum += min(max(v-mean/float32(n), -clampTo), clampTo) / 7
			}
			want = append(want, sum)
		}
		center(want)
		require.InDeltaSlice(t, want, d.targets, 1e-3)
	}
}

// Siblings are different pairs: the best one of each of the best first actions, then the next best ones of all, and a
// third of them at random.
func TestSiblingsChosen(t *testing.T) {
	_, _, p := startSiblings(t, 2)
	s, checked := newSlotOf(p.Game, 8), 0
	for range 50 {
		d, ok := noteOne(p, s)
		if !ok {
			continue
		}
		k := p.config.Samples
		require.Len(t, d.pairs, k)
		for i, pair := range d.pairs {
			require.NotContains(t, d.pairs[:i], pair)
		}
		values := func(chosen []pair) (out []float32) {
			for _, x := range chosen {
				out = append(out, -x.value)
			}
			return out
		}
		firsts := map[int]bool{}
		for i, x := range p.chosen[:k/3] {
			require.False(t, firsts[x.at])
			firsts[x.at] = true
			for _, other := range p.pairs {
				require.False(t, other.at == x.at && other.value > x.value, i)
			}
		}
		require.True(t, slices.IsSorted(values(p.chosen[:k/3])))
		require.True(t, slices.IsSorted(values(p.chosen[k/3:2*k/3])))
		checked++
	}
	require.Greater(t, checked, 30)
}

// What a ply more finds is learned: on decisions that it has not seen either, the net's differences come nearer to the
// targets than the base's are.
func TestSiblingsLearn(t *testing.T) {
	r, l, p := startSiblings(t, 4)
	base := l.base
	for range r.Options.Iterations {
		require.NoError(t, r.Step())
	}
	require.Same(t, base, l.base, "it stands still until a gate")
	require.Greater(t, len(l.stage.list), 500)
	s, k := newSlotOf(r.Game, 77), p.config.Samples
	require.InDelta(t, 10, r.Counts.Rows/k/len(l.stage.list), 1, "each is learned from ten times, whatever the stage's length")
	x := make([]float32, k*len(r.Game.Features))
	var before, after float64
	for range 200 {
		d, ok := noteOne(p, s)
		if !ok {
			continue
		}
		require.NoError(t, l.reader.rows(d, x))
		for net, sum := range map[*mlp.Net]*float64{base: &before, l.Mean: &after} {
			values := make([]float32, k)
			net.Forward(x, k, values)
			center(values)
			for i, v := range values {
				*sum += float64((v - d.targets[i]) * (v - d.targets[i]))
			}
		}
	}
	require.Less(t, after, 0.9*before)
	require.NoError(t, l.Gated())
	require.Same(t, l.Mean, l.base, "a gate ends the stage")
	require.Empty(t, l.stage.list)
}

// Decisions travel as tensors, and those that no policy notes are refused.
func TestDecisionsTravel(t *testing.T) {
	_, _, p := startSiblings(t, 2)
	s := newSlotOf(p.Game, 8)
	sent, got := &decisions{game: p.Game, siblings: 12}, &decisions{game: p.Game, siblings: 12}
	for len(sent.list) < 3 {
		if d, ok := noteOne(p, s); ok {
			sent.list = append(sent.list, *d)
		}
	}
	require.NoError(t, got.SetTensors(sent.Tensors()))
	require.Equal(t, sent.list, got.list)
	for _, c := range []struct {
		says       string
		tensor, at int
		with       float32
	}{
		{"decision 0: -1 is not three bytes", 0, 0, -1},
		{"decision 0: 65536 is no seat and no action", 1, 1, 1 << 16},
		{"decision 0: the seat has no such choice", 1, 1, 65535},
		{"decision 1: the seat has no such choice", 1, 25, 7},
		{"decision 1: the seat has no such choice", 1, 27, 65535},
		{"decision 2: target 9, want -8 to 8", 2, 25, 9},
	} {
		tensors := sent.Tensors()
		tensors[c.tensor].Data[c.at] = c.with
		require.ErrorContains(t, got.SetTensors(tensors), c.says)
	}
	tensors := sent.Tensors()
	tensors[1].Shape = []int{3, 24}
	require.ErrorContains(t, got.SetTensors(tensors), `"pairs" has the shape`)
}
