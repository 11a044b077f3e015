package search

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
)

// deepening returns a Deepening for Block Battle.
func deepening(e Evaluator, nodes int) *Deepening {
	return NewDeepening(blockbattle.Game, e, nodes, blockbattle.Pieces)
}

// threePlies is the value of a first action as Deepening defines it: the mean over the draws of the best of the
// tailWidth second actions that are best at one ply, each with its best third action.
func threePlies(e Evaluator, s env.State, seat int, a env.Action) float32 {
	var sum float32
	for o := 0; o < blockbattle.Pieces; o++ {
		var draw [env.MaxDraws]uint16
		draw[0] = uint16(o)
		mid := blockbattle.Game.New(2)
		mid.CopyFrom(s)
		mid.Force(draw[:])
		env.After(mid, seat, a)
		if v, ended := Over(mid, seat, 1); ended {
			sum += v
			continue
		}
		l := level{game: blockbattle.Game}
		l.expand(mid, seat, 2)
		l.evaluate(e, seat)
		l.arrange(true)
		best := l.finished()
		for n, k := range l.order {
			if n < tailWidth {
				last := level{game: blockbattle.Game}
				if v, ended := Over(l.states[k], seat, 2); ended {
					best = max(best, v)
					continue
				}
				last.expand(l.states[k], seat, 3)
				last.evaluate(e, seat)
				best = max(best, last.top(3))
			}
		}
		sum += best
	}
	return sum / blockbattle.Pieces
}

func TestDeepeningPlaysTheBestOfTheFirstActions(t *testing.T) {
	for _, e := range []Evaluator{hashed{levels: 1 << 20}, tidy{}} {
		changed := 0
		for i, s := range positions(t, 20) {
			seat := i % 2
			two := NewTwoPly(blockbattle.Game, e)
			c := blockbattle.Game.New(2)
			c.CopyFrom(s)
			at, err := two.search(&Clock{}, c, seat)
			require.NoError(t, err)
			want, value := two.root.legal[at], two.root.value[at]
			if value > -Limit && value < Limit {
				two.root.rank()
				for n, k := range two.root.order {
					j := two.root.slot[k]
					if n == deepWidth[0] || two.root.value[j] < -Limit {
						break
					}
					if v := threePlies(e, s, seat, two.root.legal[j]); n == 0 || v > value {
						want, value = two.root.legal[j], v
					}
				}
			}
			d := deepening(e, 0)
			d.last = 3
			c.CopyFrom(s)
			got, err := d.Act(context.Background(), c, seat)
			require.NoError(t, err)
			require.Equal(t, want, got, "position %d", i)
			require.Equal(t, value, d.Value(), "position %d", i)
			if got != two.root.legal[at] {
				changed++
			}
		}
		require.Positive(t, changed, "three plies never play another action than two")
	}
}

// With so many nodes the choice is the same on every machine, and the number of evaluations keeps to the limit but for
// the children of one position.
func TestDeepeningIsDeterministicAndKeepsToItsNodes(t *testing.T) {
	g := blockbattle.Game
	differ := 0
	for i, s := range positions(t, 10) {
		seat := i % 2
		var first env.Action
		for k, nodes := range []int{1, 3000, 3000, 20000} {
			x := deepening(hashed{levels: 1 << 20}, nodes)
			c := g.New(2)
			for range 2 { // the memory of an agent makes no difference
				c.CopyFrom(s)
				a, err := x.Act(context.Background(), c, seat)
				require.NoError(t, err)
				require.GreaterOrEqual(t, x.left, -g.MaxLegal)
				switch {
				case k == 0:
					require.Equal(t, act(t, NewTwoPly(g, hashed{levels: 1 << 20}), s, seat), a, "two plies at least")
				case k == 1:
					first = a
				case k == 2:
					require.Equal(t, first, a, "position %d", i)
				case a != first:
					differ++
				}
			}
		}
	}
	require.Positive(t, differ, "more nodes never change a choice")
}

func TestDeepeningKeepsTheDeadline(t *testing.T) {
	for i, s := range positions(t, 10) {
		c := blockbattle.Game.New(2)
		c.CopyFrom(s)
		past, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
		defer cancel()
		a, err := deepening(tidy{}, 0).Act(past, c, i%2)
		require.NoError(t, err)
		require.Contains(t, s.Legal(i%2, nil), a)
	}
}
