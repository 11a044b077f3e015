package bots

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/wintetris"
)

// What a search, its judge and their network take after the first choices of games is at most what the spec states.
func TestMemoryIsStated(t *testing.T) {
	for _, g := range games.All {
		if strings.Contains(g.Name, ":") && g != wintetris.TickGame {
			continue
		}
		for _, spec := range searches(g, "", "ply=1", "ply=3,width=2", "ply=4,width=1", "nodes=20000", "width=3000,depth=3") {
			stated := parsed(t, g, Foreign(spec, nil)).Memory()
			before := live()
			a := parsed(t, g, Foreign(spec, nil))
			judge, err := a.evaluators.create()
			require.NoError(t, err)
			player, err := searchOf(Of(g)).New(g, judge, a.options)
			require.NoError(t, err)
			for _, seats := range []int{g.MinSeats, g.MaxSeats} {
				walk(t, g, begun(g, seats, uint64(seats)), 8, func(view env.State, seat, _ int) env.Action {
					return act(t, player, view, seat)
				})
			}
			taken := live() - before
			runtime.KeepAlive(a)
			runtime.KeepAlive(player)
			want := stated.Spec + stated.Search + stated.Agent
			t.Logf("%-14s %-22s %8d of %8d bytes", g.Name, spec, taken, want)
			const noise = 4 << 10 // of the runtime
			require.LessOrEqual(t, taken, want+noise, "%s %s", g.Name, spec)
		}
	}
}

// live is the number of bytes in use.
func live() int64 {
	var m runtime.MemStats
	for range 3 { // pools are emptied in two rounds
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A wider search and a larger network state more.
func TestMemoryGrowsWithOptions(t *testing.T) {
	for _, c := range []struct{ game, small, large string }{
		{"dropblox", "hand:width=50", "hand:width=10000"}, {"blocking", "hand:ply=2", "hand:ply=6"},
		{"dropblox", "hand:width=10000", "hand:time=1s"}, {"blockbattle", "hand:ply=1", "hand:ply=4"},
		{"tetrisduel", "hand", "learned"},
	} {
		g := lookup(t, c.game)
		var sum [2]int64
		for k, spec := range []string{c.small, c.large} {
			m := parsed(t, g, Foreign(spec, nil)).Memory()
			sum[k] = m.Spec + m.Search + m.Agent
		}
		require.Less(t, sum[0], sum[1], fmt.Sprint(c))
	}
}
