package vec_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/env/wintetris"
)

// TestVariantsStayApart: a position of another variant, or with other seats, may pass Check. It is refused, and nothing
// changes.
func TestVariantsStayApart(t *testing.T) {
	for _, g := range games.All {
		e, _, _ := start(t, g, vec.Config{Envs: 1})
		before := positions(e)
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
				require.Equal(t, before, positions(e))
			}
		}
		require.NoError(t, put(e, 0, g.New(g.MinSeats)))
	}
	e, _, _ := start(t, wintetris.Game, vec.Config{Envs: 1})
	strict := wintetris.Game.New(1).(*wintetris.State)
	strict.Strict = true
	require.ErrorContains(t, put(e, 0, strict), "another variant")
}
