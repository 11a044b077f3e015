package relabel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/games"
)

// Names are a bijection: no two moves and no two pieces have the same.
func TestRelabellingIsABijection(t *testing.T) {
	for _, g := range games.All {
		for seed := range uint64(4) {
			r := New(g, seed)
			seen := map[string]bool{}
			for a := range g.Actions {
				text := r.Move(g.Text(env.Action(a)))
				require.False(t, seen[text], "%s: %s", g.Name, text)
				require.NotEqual(t, g.Text(env.Action(a)), text)
				require.LessOrEqual(t, len(text), 80)
				seen[text] = true
			}
			require.Len(t, r.pieces("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 26)
			for _, c := range r.letters {
				require.False(t, seen[string(c)])
				seen[string(c)] = true
			}
		}
	}
}

// Drawings are mirrored and turned, and words of directions with them.
func TestRedraw(t *testing.T) {
	for k := range 8 {
		r := &Names{flipX: k&1 != 0, flipY: k&2 != 0, turned: k&4 != 0}
		b := env.Board{W: 3, H: 5, Cells: make([]env.Cell, 15)}
		middle := env.Cell{Kind: env.CellWall}
		b.Set(1, 2, middle)
		at := map[string][2]int{"left": {0, 2}, "right": {2, 2}, "up": {1, 0}, "down": {1, 4}}
		for word, c := range at {
			marked := env.Board{W: 3, H: 5, Cells: append([]env.Cell(nil), b.Cells...)}
			marked.Set(c[0], c[1], env.Cell{Kind: env.CellSettled})
			r.board(&marked)
			want := map[string][2]int{"left": {0, marked.H / 2}, "right": {marked.W - 1, marked.H / 2},
				"up": {marked.W / 2, 0}, "down": {marked.W / 2, marked.H - 1}}[r.towards(word)]
			require.Equal(t, env.CellSettled, marked.Cells[want[1]*marked.W+want[0]].Kind, "%d: %s", k, word)
			require.Equal(t, middle, marked.Cells[marked.H/2*marked.W+marked.W/2])
		}
	}
}
