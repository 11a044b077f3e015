package vec_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/env/wintetris"
)

// TestVariantsStayApart: a position of another variant, or with other seats, may pass Check. It is refused, and nothing
// changes.
func TestVariantsStayApart(t *testing.T) {
	for _, g := range games.All {
		e, _, _ := start(t, g, vec.Config{Envs: 1})
		before := positions(t, e)
		for _, other := range games.All {
			for _, seats := range seatCounts(other) {
				s := other.New(seats)
				if reflect.TypeOf(s) != reflect.TypeOf(e.State(0)) || other == g && seats == g.MinSeats {
					continue
				}
				says := "another variant of the game"
				if seats != g.MinSeats {
					says = fmt.Sprintf("%d seats, want %d", seats, g.MinSeats)
				}
				require.ErrorContains(t, put(e, 0, s), says, "%s in %s", other.Name, g.Name)
				require.Equal(t, before, positions(t, e))
			}
		}
		require.NoError(t, put(e, 0, g.New(g.MinSeats)))
	}
	e, _, _ := start(t, wintetris.Game, vec.Config{Envs: 1})
	strict := wintetris.Game.New(1).(*wintetris.State)
	strict.Strict = true
	require.ErrorContains(t, put(e, 0, strict), "another variant")
}

// A trap is toy.Pick that panics in the step after its card became 3.
type trap struct{ toy.State }

func (s *trap) CopyFrom(src env.State) { *s = *src.(*trap) }

func (s *trap) Step(m env.Moves) {
	if s.Card == 3 {
		panic("the trap")
	}
	s.State.Step(m)
}

// TestAPanicIsOverWithAReset: after a panic only a reset of all environments is possible, and then all is as new.
func TestAPanicIsOverWithAReset(t *testing.T) {
	g := like("toy:trap", func(s toy.State) env.State { return &trap{s} })
	e, out, actions := start(t, g, vec.Config{Envs: 8})
	first := positions(t, e)
	var err error
	for range 50 {
		require.NoError(t, e.Sample(actions))
		if err = e.Step(actions, out); err != nil {
			break
		}
	}
	var panicked *vec.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Equal(t, "the trap", panicked.Value)
	require.Contains(t, string(panicked.Stack), "variant_test.go")
	require.ErrorAs(t, e.Step(actions, out), &panicked)
	require.NoError(t, e.Reset(vec.From(1), nil, out))
	require.Equal(t, first, positions(t, e))
}
