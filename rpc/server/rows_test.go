package server_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/toy"
)

// lists is the response of afterstates; that of legal has its first three fields.
type lists struct {
	Count   int    `msgpack:"count"`
	Indptr  []byte `msgpack:"indptr"`
	Actions []byte `msgpack:"actions"`
	Planes  []byte `msgpack:"planes"`
	Globals []byte `msgpack:"globals"`
	Rewards []byte `msgpack:"reward"`
	Done    []byte `msgpack:"done"`
}

// row returns the first index of row k, and the index behind its last.
func (l *lists) row(k int) (first, end int) {
	at := func(k int) int { return int(binary.LittleEndian.Uint32(l.Indptr[4*k:])) }
	return at(k), at(k + 1)
}

// TestWaitingRows plays toy:turns with all three seats through the ends of games: every seat has its
// row, and a row that need not act has one action, 0, which changes nothing.
func TestWaitingRows(t *testing.T) {
	for _, autoreset := range []string{"NextStep", "SameStep"} {
		g := opened(t, "toy:turns", map[string]any{"num_envs": 4, "seed": 3, "autoreset": autoreset})
		require.Equal(t, 3, g.RowsPerEnv)
		require.NoError(t, g.CallSlab("reset"))
		require.Equal(t, []byte{0, 255, 255}, g.Field("seat")[:3])
		planes, globals := toy.Turns.Planes.Len(), 4*toy.Turns.Globals()
		var choose chooser
		for range 25 {
			var legal, after lists
			require.NoError(t, g.Call("legal", &legal, nil))
			require.NoError(t, g.Call("afterstates", &after, nil))
			require.Equal(t, legal.Indptr, after.Indptr)
			require.Equal(t, legal.Actions, after.Actions)
			for row, seat := range g.Field("seat") {
				first, end := legal.row(row)
				require.Less(t, first, end, "every row has an action")
				if seat != 255 {
					require.Equal(t, byte(row%3), seat)
					continue
				}
				require.Equal(t, first+1, end)
				require.Equal(t, []byte{0, 0}, legal.Actions[2*first:2*end])
				require.Equal(t, g.Field("planes")[row*planes:(row+1)*planes], after.Planes[first*planes:end*planes])
				require.Equal(t, g.Field("globals")[row*globals:(row+1)*globals], after.Globals[first*globals:end*globals])
				require.Equal(t, []byte{0, 0, 0, 0}, after.Rewards[4*first:4*end])
				over := g.Field("terminated")[row/3]
				if autoreset == "SameStep" {
					over = 0 // the next game has begun
				}
				require.Equal(t, over, after.Done[first])
			}
			actions := make([]byte, 2*g.Rows)
			choose.choose(g.Field("mask"), g.Rows, actions)
			for row, seat := range g.Field("seat") {
				if seat == 255 {
					binary.LittleEndian.PutUint16(actions[2*row:], uint16(row*7919))
				}
			}
			require.NoError(t, g.Step(actions), "the actions of waiting rows are ignored")
		}
	}
}

// TestActingRows opens the compact form, in which a game has one row.
func TestActingRows(t *testing.T) {
	g := opened(t, "toy:turns", map[string]any{"num_envs": 2, "seed": 3, "rows": "acting"})
	require.Equal(t, 1, g.RowsPerEnv)
	require.NoError(t, g.CallSlab("reset"))
	var choose chooser
	for seat := range 3 {
		require.Equal(t, []byte{byte(seat), byte(seat)}, g.Field("seat"))
		stepped(t, g, &choose)
	}
}

// TestRolloutOfWaitingRows: the actions of a rollout are legal in an action space, also those of
// waiting rows.
func TestRolloutOfWaitingRows(t *testing.T) {
	for _, policy := range []string{"random", "first"} {
		g := opened(t, "toy:turns", map[string]any{"num_envs": 2, "seed": 3})
		require.NoError(t, g.CallSlab("reset"))
		var out struct {
			Actions []byte `msgpack:"actions"`
		}
		require.NoError(t, g.Call("rollout", &out, 30, map[string]any{"policy": policy}))
		require.Len(t, out.Actions, 30*2*3*2)
		for k := 0; k < len(out.Actions); k += 2 {
			require.Less(t, binary.LittleEndian.Uint16(out.Actions[k:]), uint16(toy.Turns.Actions))
		}
	}
}

// TestIllegalActionsAreCounted: the slab marks them, stats counts them, also for the session.
func TestIllegalActionsAreCounted(t *testing.T) {
	for _, treatment := range []string{"penalty", "random"} {
		c := dial(t, start(t, nil).unix)
		g, err := c.Open("toy:turns", map[string]any{"num_envs": 2, "seed": 3, "illegal": treatment})
		require.NoError(t, err)
		require.NoError(t, g.CallSlab("reset"))
		require.Equal(t, make([]byte, 6), g.Field("illegal"))
		require.NoError(t, g.Step(bytes.Repeat([]byte{0xF0, 0xF0}, 6)))
		require.Equal(t, []byte{1, 0, 0, 1, 0, 0}, g.Field("illegal"), "those of waiting rows are not illegal")
		none := bytes.Repeat([]byte{0xFF, 0xFF}, 6)
		require.NoError(t, g.Step(none))
		require.Equal(t, make([]byte, 6), g.Field("illegal"), "65535 is no action")
		var stats struct {
			Illegal int `msgpack:"illegal"`
			Session struct {
				Illegal int `msgpack:"illegal"`
			} `msgpack:"session"`
		}
		require.NoError(t, c.Call("stats", &stats))
		require.Equal(t, []int{2, 2}, []int{stats.Illegal, stats.Session.Illegal})
	}
	g := opened(t, "toy:turns", nil)
	for _, f := range g.Layout {
		require.NotEqual(t, "illegal", f.Name, "an error needs no marks")
	}
}
