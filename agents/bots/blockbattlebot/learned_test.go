package blockbattlebot

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// selector is a net of one layer that passes one feature through.
func selector(t testing.TB, name string) *features.Counted {
	t.Helper()
	l := mlp.Layer{In: Len, Out: 1, W: make([]float32, Len), B: make([]float32, 1)}
	for i, n := range FeatureNames {
		if n == name {
			l.W[i]++
		}
	}
	net, err := mlp.New([]mlp.Layer{l})
	require.NoError(t, err)
	e := NewLearned(net)
	return e
}

// digs has no holes, and from the lowest row up lacks 2 to 6 cells.
const digs = `
	......####
	.#....####
	.##...####
	.###..####
	####..####`

// One weight is 1, the others are 0: the worth is that feature.
func TestFeatures(t *testing.T) {
	stock := func(f func(own, opponent *blockbattle.Side)) func(s *blockbattle.State) {
		return func(s *blockbattle.State) { f(&s.Sides[0], &s.Sides[1]) }
	}
	round := func(n int32) func(s *blockbattle.State) {
		return func(s *blockbattle.State) { s.Round = n }
	}
	cases := []struct {
		name, own, opponent string
		change              func(s *blockbattle.State)
		want                float64
	}{
		{"own height 0", heap, "", nil, 5. / 10},
		{"own height 9", heap, "", nil, 2. / 10},
		{"own step 1", heap, "", nil, -1. / 3},
		{"own step 2", heap, "", nil, -1. / 3},
		{"own step 5", tower, "", nil, -6. / 3},
		{"own step 9", heap, "", nil, 2. / 3},
		{"own step size 9", heap, "", nil, 2. / 3},
		{"own step size 5", tower, "", nil, 6. / 3},
		{"own holes", heap, "", nil, 3. / 8},
		{"own covers", heap, "", nil, 3. / 10},
		{"own hole rows", heap, "", nil, 2. / 5},
		{"own overhangs", heap, "", nil, 1. / 4},
		{"own row edges", heap, "", nil, 16. / 30},
		{"own column edges", heap, "", nil, 16. / 20},
		{"own wells", heap, "", nil, 1. / 10},
		{"own highest", heap, "", nil, 5. / 10},
		{"own cells", heap, "", nil, 30. / 60},
		{"own room", heap, "", nil, 14. / 10},
		{"own spawn room", heap, "", nil, 15. / 10},
		{"own spawn room below 4", tower, "", nil, 1},
		{"own spawn room below 4", heap, "", nil, 0},
		{"own spawn room below 2", tower, "", nil, 0},
		{"own gap rows open", quadWell, "", nil, 4. / 4},
		{"own gap rows closed", "########.# #######.##", "", nil, 1. / 4},
		{"own gap rows of two", heap, "", nil, 1. / 4},
		{"own ready rows", quadWell, "", nil, 4. / 4},
		{"own well depth", quadWell, "", nil, 4. / 5},
		{"own T slots", tSlot, "", nil, 1. / 2},
		{"own T singles", tSingle, "", nil, 1. / 2},
		{"own T doubles", tDouble, "", nil, 1},
		{"own T notches", tNotch, "", nil, 1. / 2},
		{"own T halves", tNotch, "", nil, 1},
		{"own points over 3", "", "", stock(func(own, _ *blockbattle.Side) { own.Points = 8 }), 2. / 2},
		{"own points one short", "", "", stock(func(own, _ *blockbattle.Side) { own.Points = 8 }), 1},
		{"own points one short", "", "", stock(func(own, _ *blockbattle.Side) { own.Points = 7 }), 0},
		{"own combo", "", "", stock(func(own, _ *blockbattle.Side) { own.Combo = 3 }), 3. / 4},
		{"own skips", "", "", stock(func(own, _ *blockbattle.Side) { own.Skips = 9 }), 6. / 3},
		{"rows sent", "", "", stock(func(_, opp *blockbattle.Side) { opp.Pending = 2 }), 2. / 3},
		{"opponent room after rows sent", "", tower, stock(func(_, opp *blockbattle.Side) { opp.Pending = 4 }), -2. / 10},
		{"opponent buried", "", tower, stock(func(_, opp *blockbattle.Side) { opp.Pending = 3 }), 1},
		{"opponent buried", "", tower, stock(func(_, opp *blockbattle.Side) { opp.Pending = 2 }), 0},
		{"own room after threat", heap, quadWell, nil, 11. / 10},
		{"own buried by threat", tower, quadWell, nil, 1},
		{"own buried by threat", tower, "", nil, 0},
		{"own bumps", heap, "", nil, 5. / 20},
		{"own peak squared", tower, "", nil, 64. / 50},
		{"own spawn lack squared", tower, "", nil, 1. / 8},
		{"own four ready", quadWell, "", nil, 1},
		{"own double ready", tDouble, "", nil, 1},
		{"own few skips", "", "", stock(func(own, _ *blockbattle.Side) { own.Skips = 9 }), 4. / 2},
		{"rows sent into little room", "", tower, stock(func(_, opp *blockbattle.Side) { opp.Pending = 2 }), 16. / 30},
		{"rows sent into little room", "", heap, stock(func(_, opp *blockbattle.Side) { opp.Pending = 2 }), 0},
		{"own exposure squared", tower, quadWell, nil, 16. / 50},
		{"own exposure squared", heap, quadWell, nil, 0},
		{"own I flat", "", "", nil, 4. / 2},
		{"own O fits", heap, "", nil, 4. / 2},
		{"own S fits", heap, "", nil, 3. / 2},
		{"own Z fits", heap, "", nil, 2. / 2},
		{"own T fits", heap, "", nil, 4. / 2},
		{"own J fits", heap, "", nil, 4. / 2},
		{"own L fits", heap, "", nil, 4. / 2},
		{"own no O", stairs, "", nil, 1},
		{"own no S", stairs, "", nil, 1},
		{"own no Z", quadWell, "", nil, 1},
		{"own no T", cliffs, "", nil, 1},
		{"own no J", stairs, "", nil, 1},
		{"own no L", stairs, "", nil, 1},
		{"own cover rows", heap, "", nil, 1. / 4},
		{"own cover gaps", heap, "", nil, 4. / 10},
		{"own top hole cells", heap, "", nil, 2. / 2},
		{"own top hole row gaps", heap, "", nil, 4. / 4},
		{"own top hole row above floor", heap, "", nil, 3. / 10},
		{"own least cover gaps", heap, "", nil, 4. / 4},
		{"own no holes", quadWell, "", nil, 1},
		{"own bottom row gaps", heap, "", nil, 2. / 4},
		{"own whole rows lacking 1", quadWell, "", nil, 4. / 4},
		{"own whole rows lacking 2", digs, "", nil, 1. / 4},
		{"own whole rows lacking 3", digs, "", nil, 1. / 4},
		{"own whole rows lacking 4", digs, "", nil, 1. / 4},
		{"own whole rows lacking 5", digs, "", nil, 1. / 4},
		{"own whole rows lacking 6", digs, "", nil, 1. / 4},
		{"own hole rows lacking 1", "########## #######.##", "", nil, 1. / 4},
		{"own hole rows lacking 2", "########.# #.#####.##", "", nil, 1. / 4},
		{"own hole rows lacking 3", "########.# #.#.###.##", "", nil, 1. / 4},
		{"own hole rows lacking 4", heap, "", nil, 1. / 4},
		{"own hole rows lacking 5", "########.# #.#.#.#..#", "", nil, 1. / 4},
		{"own hole rows lacking 6", "########.# #.........", "", nil, 1. / 4},
		{"own runs of 2", digs, "", nil, 1. / 4},
		{"own runs of 3", "###...####", "", nil, 1. / 4},
		{"own runs of 4", "#....##### ##########", "", nil, 1. / 4},
		{"own split gaps of 2", "####.##.##", "", nil, 1. / 4},
		{"own split gaps of 3", digs, "", nil, 1. / 4},
		{"own split gaps of 4", digs, "", nil, 1. / 4},
		{"opponent holes", "", heap, nil, 3. / 8},
		{"opponent T doubles", "", tDouble, nil, 1},
		{"threat", "", quadWell, nil, 3. / 3},
		{"threat", "", quadWell, stock(func(_, opp *blockbattle.Side) { opp.Points, opp.Combo = 1, 4 }), 5. / 3},
		{"threat", "", tDouble, nil, 3. / 3},
		{"threat", "", tSingle, nil, 1. / 3},
		{"threat", "", "", stock(func(_, opp *blockbattle.Side) { opp.Combo = 4 }), 0},
		{"rounds to solid row", "", "", round(16), 14. / 15},
		{"rounds to solid row", "", "", round(15), 0},
		{"solid row next", "", "", round(30), 1},
		{"solid row next", "", "", round(31), 0},
		{"solid rows", "", heap, nil, 1. / 10},
		{"round", "", "", round(45), 45. / 100},
	}
	named := map[string]bool{}
	for _, c := range cases {
		s := draw(t, c.own, c.opponent)
		if c.change != nil {
			c.change(s)
		}
		require.Contains(t, FeatureNames, c.name)
		named[c.name] = true
		var out [1]float32
		selector(t, c.name).Evaluate([]env.State{s}, 0, out[:])
		require.InDelta(t, c.want, float64(out[0]), 1e-5, "%s of %s against %s", c.name, c.own, c.opponent)
	}
	for _, name := range FeatureNames[3*columns-2 : OwnLen] {
		require.True(t, named[name], "no case for %s", name)
	}
	for _, name := range FeatureNames[OwnLen+halfLen:] {
		require.True(t, named[name], "no case for %s", name)
	}
}

func TestFeatureNames(t *testing.T) {
	require.Len(t, FeatureNames, Len)
	for i, name := range FeatureNames[:halfLen] {
		require.Equal(t, "opponent"+name[len("own"):], FeatureNames[OwnLen+i])
	}
}

// The opponent's half is told as its owner would tell it, and no number leaves its range.
func TestHalvesMirror(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	var a, b [Len]float32
	for i := 0; i < 3000; i++ {
		s := randomState(r)
		fill(s, 0, a[:])
		fill(s, 1, b[:])
		require.Equal(t, a[:halfLen], b[OwnLen:OwnLen+halfLen])
		require.Equal(t, b[:halfLen], a[OwnLen:OwnLen+halfLen])
		for j, v := range a {
			require.True(t, v >= -4 && v <= 30 && v == v, "%s is %v\nseed %d, position %d", FeatureNames[j], v, *seed, i)
		}
	}
}

func BenchmarkLearned(b *testing.B) {
	for _, hidden := range [][]int{{32}, {48}, {64}, {64, 32}} {
		b.Run(fmt.Sprint("hidden=", hidden), func(b *testing.B) {
			e := NewLearned(toybot.RandomNet(b, 1, append(append([]int{Len}, hidden...), 1)...))
			benchmark(b, e)
		})
	}
}

// fill writes all features of s as seat sees it.
func fill(s *blockbattle.State, seat int, out []float32) {
	r := new(FeatureReader)
	r.Shared(s, seat, out[OwnLen:])
	r.Own(s, seat, out[:OwnLen])
}
