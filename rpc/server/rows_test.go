package server_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/toy"
)

// TestWaitingRows plays toy:turns with all three seats through the ends of games: every seat has its
// row, and a row that need not act has one action, 0, which changes nothing.
func TestWaitingRows(t *testing.T) {
	for _, autoreset := range []string{"NextStep", "SameStep"} {
		g := started(t, "toy:turns", map[string]any{"num_envs": 4, "seed": 3, "autoreset": autoreset})
		require.Equal(t, 3, g.RowsPerEnv)
		require.Equal(t, []byte{0, 255, 255}, g.Field("seat")[:3])
		planes, globals := toy.Turns.Planes.Len(), 4*toy.Turns.Globals()
		var choose chooser
		for range 25 {
			after, legal := result[lists](t, g, "afterstates", nil), result[lists](t, g, "legal", nil)
			require.Equal(t, lists{Count: 4, Indptr: after.Indptr, Actions: after.Actions}, legal)
			ends, actions := numbers[uint32](after.Indptr), choose.of(g)
			for row, seat := range g.Field("seat") {
				first, end := int(ends[row]), int(ends[row+1])
				require.Less(t, first, end, "every row has an action")
				if seat != 255 {
					require.Equal(t, byte(row%3), seat)
					continue
				}
				require.Equal(t, first+1, end)
				require.Equal(t, []byte{0, 0}, after.Actions[2*first:2*end])
				require.Equal(t, g.Field("planes")[row*planes:(row+1)*planes], after.Planes[first*planes:end*planes])
				require.Equal(t, g.Field("globals")[row*globals:(row+1)*globals], after.Globals[first*globals:end*globals])
				require.Equal(t, []byte{0, 0, 0, 0}, after.Reward[4*first:4*end])
				over := g.Field("terminated")[row/3]
				if autoreset == "SameStep" {
					over = 0 // the next game has begun
				}
				require.Equal(t, over, after.Done[first])
				binary.LittleEndian.PutUint16(actions[2*row:], uint16(row*7919))
			}
			require.NoError(t, g.Step(actions), "the actions of waiting rows are ignored")
		}
	}
	compact := started(t, "toy:turns", map[string]any{"num_envs": 2, "rows": "acting"})
	require.Equal(t, []byte{0, 0}, compact.Field("seat"), "one row of each game, of the seat that acts")
}
