package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two handles with a part of the games each do and draw what one would: in rollouts, against mixtures of opponents, also
// after one seat has got another opponent, for afterstates and for copies.
func TestFirst(t *testing.T) {
	for game, opponents := range map[string]map[int]any{
		"blockbattle": {}, "toy:turns": {0: mixed("first", 1, "last", 2), 2: mixed("last", 1, "first", 1)},
	} {
		run := func(first, n int) []string {
			g := started(t, game, map[string]any{"num_envs": n, "first": first, "seed": 5, "opponents": opponents})
			told := make([]string, n)
			for k := range 8 {
				if k == 4 && len(opponents) > 0 {
					require.NoError(t, g.Call("set_opponents", nil, map[int]any{0: "again"}))
				}
				roll(t, g, 7)
				require.NoError(t, g.CallSlab("clone", nil, nil, map[string]any{"reseed": k}))
				for i := range told {
					after := result[lists](t, g, "afterstates", u32(uint32(i)), map[string]any{"seed": 8})
					told[i] += fmt.Sprint(boards(g)[i], after, result[states](t, g, "snapshot", u32(uint32(i))))
					if len(opponents) > 0 {
						told[i] += fmt.Sprint(g.Field("opponent")[6*i : 6*i+6])
					}
				}
			}
			return told
		}
		whole := run(0, 10)
		require.Equal(t, whole, append(run(0, 3), run(3, 7)...))
		if game == "toy:turns" {
			all := strings.Join(whole, "")
			require.Contains(t, all, "[2 0 255 255 1 0]", "again, the client, last")
			require.Contains(t, all, "[2 0 255 255 0 0]", "again, the client, first: numbers are of the handle, not of a seat")
		}
	}
}
