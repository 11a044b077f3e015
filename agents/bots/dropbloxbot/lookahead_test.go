package dropbloxbot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/dropblox"
	"blockyard/env/envtest"
)

// late are positions of a game in which large blocks are drawn.
func late(t *testing.T) (out []*Problem) {
	for _, p := range middles() {
		p.Points += 500
		out = append(out, p)
	}
	require.Greater(t, len(out), 5)
	return out
}

func shippedRater() *Learned { return NewLearned(envtest.Must(Entry.LoadNet(dropblox.Game, ""))) }

// slowLine is the value of the best line that places all blocks, every one tried; alive is false if there is none.
func slowLine(r Rater, from *Board, blocks []dropblox.Block) (best float32, alive bool) {
	shape := dropblox.NewShape(&blocks[0])
	var rest dropblox.Poses
	if !blocks[0].Fits(&from.Field) || !shape.Rest(&from.Field, &rest) {
		return 0, false
	}
	for _, a := range rest.Actions(nil) {
		at, kids, worth := dropblox.At(a), make([]Kid, 1), make([]float32, 1)
		kids[0].make(from, &shape, at.R, at.J, at.I)
		r.Rate(from, kids, len(blocks)-1, worth)
		ok := true
		if len(blocks) > 1 {
			next := Board{Field: kids[0].Field, Points: kids[0].Points, Line: kids[0].Line}
			worth[0], ok = slowLine(r, &next, blocks[1:])
		}
		if ok && (!alive || worth[0] > best) {
			best, alive = worth[0], true
		}
	}
	return best, alive
}

// With a width that drops nothing, the values are those of the best lines, and the choice is the best mean.
func TestLookaheadAgainstFullSearch(t *testing.T) {
	b := NewBeam(shippedRater())
	values, changed := 0, 0
	for _, p := range late(t) {
		at, done, ok := b.Choose(p, 30, search.Clock{})
		require.True(t, done && ok)
		b.Lookahead(p, at, 1, search.Clock{}) // creates it
		l := b.ahead
		l.depth, l.narrow = 2, 3000
		choice := b.Lookahead(p, at, 3, search.Clock{})
		if l.count < 2 {
			require.Equal(t, at, choice)
			continue
		}
		var best float64
		want := at
		for i := range l.count {
			r, sum := &l.rivals[i], 0.0
			require.Len(t, r.worth, 3)
			l.seed(p)
			for l.samples = range 3 {
				l.draw(p)
				most, alive := float32(0), false
				for k := range r.boards {
					v, ok := slowLine(b.rater, &r.boards[k], l.future.Blocks[:2])
					if ok && (!alive || v > most) {
						most, alive = v, true
					}
				}
				if alive {
					require.Equal(t, most, r.worth[l.samples])
					values++
				}
				sum += float64(r.worth[l.samples])
			}
			if i == 0 || sum > best {
				best, want = sum, placement(r.first)
			}
		}
		require.Equal(t, want, choice)
		if choice != at {
			changed++
		}
	}
	require.Greater(t, values, 20)
	require.Positive(t, changed)
}

// A line after which no block has room is worth the points it made.
func TestLookaheadRatesLostGames(t *testing.T) {
	l := newLookahead(shippedRater())
	l.seed(&Problem{})
	l.draw(&Problem{})
	full := Board{Points: 77, Line: 2}
	for j := range full.Field[:dropblox.Cols] {
		full.Field[j] = within
	}
	var c search.Clock
	v, done := l.value([]Board{full}, &c)
	require.True(t, done)
	require.InDelta(t, Unit*77+prior*2, v, 1e-6)
}

// Futures are drawn as the rules draw blocks, and 16 of them have all 16th parts of the numbers that select levels.
func TestFuturesFollowTheRules(t *testing.T) {
	l := newLookahead(shippedRater())
	for _, score := range []int32{0, 300, 550, 620} {
		p, sum := &Problem{Points: score}, 0
		l.seed(p)
		const n = 4000
		for l.samples = range n {
			l.draw(p)
			require.Equal(t, dropblox.Known, l.future.Depth)
			for _, b := range l.future.Blocks {
				require.Equal(t, dropblox.BlockOf(int(b.Type)), b)
				sum += int(b.Size)
			}
		}
		require.InDelta(t, dropblox.MeanSize(int(score)), float64(sum)/n/dropblox.Known, 0.04, "score %d", score)
	}
	for k := range l.strata {
		seen := [stratum]bool{}
		for _, s := range l.strata[k] {
			seen[s] = true
		}
		require.NotContains(t, seen, false)
	}
}

// The choice depends on the position alone, not on what was searched before. A beam of some of the known blocks has no
// lookahead: what follows its lines is known.
func TestLookaheadIsDeterministic(t *testing.T) {
	warm := NewBeam(shippedRater())
	for _, p := range late(t)[:4] {
		fresh := NewBeam(shippedRater())
		p.Depth = 5
		at, _, _ := fresh.Choose(p, 20, search.Clock{})
		require.Equal(t, at, fresh.Lookahead(p, at, 20, search.Clock{}))
		require.Nil(t, fresh.ahead)
		p.Depth = 0
		at, _, _ = warm.Choose(p, 20, search.Clock{})
		same, _, _ := fresh.Choose(p, 20, search.Clock{})
		require.Equal(t, at, same)
		require.Equal(t, fresh.Lookahead(p, at, 20, search.Clock{}), warm.Lookahead(p, at, 20, search.Clock{}))
	}
}

// Without the time for enough futures, the choice of the beam stands. A time limit is kept.
func TestLookaheadKeepsTheDeadline(t *testing.T) {
	r := &endingWatch{watch{Rater: shippedRater()}}
	b := NewBeam(r)
	for _, p := range late(t) {
		at, _, _ := b.Choose(p, 20, search.Clock{})
		require.Equal(t, at, b.Lookahead(p, at, MaxFutures, search.Until(time.Now())))
		r.keeps(t, func(c search.Clock) bool { _, ok := b.Fit(p, c); return ok }, 100*time.Millisecond)
	}
	p := late(t)[0]
	at, _, _ := b.Choose(p, 20, search.Clock{})
	require.Equal(t, at, b.Lookahead(p, at, MaxFutures, search.NewClock(envtest.Stopped(t))))
}

func TestOptionsThatDoNotGoTogether(t *testing.T) {
	for _, c := range []struct {
		options      string
		rater        Rater
		agent, ranks string // the error of either, "" for none
	}{
		{"width=20,time=50ms", shippedRater(), "time decides the width", "takes as long as it takes"},
		{"futures=16,time=50ms", shippedRater(), "the width and the number of futures", "takes as long as it takes"},
		{"futures=16,depth=3", shippedRater(), "leave out depth or futures", "option futures"},
		{"futures=16", &Hand{Classic}, "use learned", "option futures"},
		{"futures=16", shippedRater(), "", "option futures"},
	} {
		o := envtest.Must(Entry.Search.ParseOptions(c.options, nil))
		require.ErrorContains(t, envtest.Failed(Entry.Search.Ranker(dropblox.Game, c.rater, o)), c.ranks)
		if _, err := Entry.Search.New(dropblox.Game, c.rater, o); c.agent == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.agent)
		}
	}
}

// The shipped net plays on where the classic terms, with as narrow a beam, have lost: from
// where blocks begin to grow, in many games, for a few say nothing. It looks at all blocks
// that are known, since it has learned what boards are worth six blocks on.
func TestShippedNetIsStronger(t *testing.T) {
	points := func(r Rater) (sum int) {
		for seed := uint64(1); seed <= 16; seed++ {
			a := NewAgent(r, 6, 0, 0)
			var s dropblox.State
			s.Reset(seed)
			for s.Points = 430; s.Acting() != 0; {
				act := envtest.Must(a.Act(t.Context(), &s, 0))
				require.NoError(t, env.Apply(dropblox.Game, &s, env.Alone(0, act)))
			}
			sum += int(s.Points)
		}
		return sum
	}
	good, classic := points(shippedRater()), points(&Hand{Classic})
	t.Logf("%d points to %d", good, classic)
	require.Greater(t, good, classic)
}
