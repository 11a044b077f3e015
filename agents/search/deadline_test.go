package search

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
)

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
	for i, s := range positions(t, 30) {
		seat := i % 2
		for calls := 1; calls <= 4; calls++ {
			ctx, cancel := context.WithCancel(context.Background())
			got := actIn(t, ctx, NewTwoPly(g, &counting{e, calls, cancel}), s, seat)

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
		for i, s := range positions(t, 20) {
			if name != "deepening" { // which orders equal actions in another way
				require.Equal(t, act(t, a, s, i%2), actIn(t, far, a, s, i%2), "%s: position %d", name, i)
			}
			require.Contains(t, s.Legal(i%2, nil), actIn(t, past, a, s, i%2), name)
		}
	}
}
