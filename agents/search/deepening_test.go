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
		mid := copyOf(blockbattle.Game, s)
		mid.Force([]uint16{uint16(o)})
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
		for _, k := range l.order[:min(tailWidth, len(l.order))] {
			last := level{game: blockbattle.Game}
			last.expand(l.states[k], seat, 3)
			last.evaluate(e, seat)
			best = max(best, last.top(3))
		}
		sum += best
	}
	return sum / blockbattle.Pieces
}

func TestDeepeningPlaysTheBestOfTheFirstActions(t *testing.T) {
	for _, e := range []Evaluator{hashed{levels: 1 << 20}, tidy{}} {
		changed := 0
		for i, s := range positions(20) {
			seat := i % 2
			two := NewTwoPly(blockbattle.Game, e)
			at, err := two.search(&Clock{}, copyOf(blockbattle.Game, s), seat)
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
			got := act(d, s, seat)
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
	e, differ := hashed{levels: 1 << 20}, 0
	for i, s := range positions(10) {
		chosen := map[int]env.Action{}
		for _, nodes := range []int{1, 3000, 20000} {
			x := deepening(e, nodes)
			chosen[nodes] = act(x, s, i%2)
			require.GreaterOrEqual(t, x.left, -blockbattle.Game.MaxLegal)
			require.Equal(t, chosen[nodes], act(x, s, i%2), "the memory of an agent makes no difference")
			require.Equal(t, chosen[nodes], act(deepening(e, nodes), s, i%2), "position %d", i)
		}
		require.Equal(t, act(NewTwoPly(blockbattle.Game, e), s, i%2), chosen[1], "two plies at least")
		if chosen[3000] != chosen[20000] {
			differ++
		}
	}
	require.Positive(t, differ, "more nodes never change a choice")
}

// counting cancels after n calls.
type counting struct {
	Evaluator
	left   int
	cancel func()
}

func (c *counting) Evaluate(states []env.State, seat int, out []float32) {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	c.Evaluator.Evaluate(states, seat, out)
}

func TestOutOfTimePlaysTheBestSoFar(t *testing.T) {
	g := blockbattle.Game
	e := hashed{levels: 1 << 20}
	for i, s := range positions(30) {
		seat := i % 2
		for calls := 1; calls <= 4; calls++ {
			ctx, cancel := context.WithCancel(context.Background())
			got := actIn(ctx, NewTwoPly(g, &counting{e, calls, cancel}), s, seat)

			// Without a deadline the first actions are searched in order.
			want, best, searched := env.None, float32(0), 0
			for _, a := range s.Legal(seat, nil) {
				v := exhaust{eval: e}.value(s, seat, a, 0, 2)
				one := exhaust{eval: e}.value(s, seat, a, 0, 1)
				if one > -Limit { // not lost at once: it takes a call, unless all its seconds lose
					if searched == calls {
						continue
					}
					if v > -Limit {
						searched++
					}
				}
				if want == env.None || v > best {
					want, best = a, v
				}
			}
			require.Equal(t, want, got, "position %d, %d calls", i, calls)
		}
	}
}

func TestDeadlineIsKeptAndDoesNotMatterWhenFar(t *testing.T) {
	far, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	past, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	for name, a := range searches(hashed{levels: 5}) {
		for i, s := range positions(20) {
			if name != "deepening" { // which orders equal actions in another way
				require.Equal(t, act(a, s, i%2), actIn(far, a, s, i%2), "%s: position %d", name, i)
			}
			require.Contains(t, s.Legal(i%2, nil), actIn(past, a, s, i%2), name)
		}
	}
}
