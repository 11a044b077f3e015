package bots

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/mlp"
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
		for _, spec := range searching(g) {
			a, err := Parse(g, Foreign(spec, nil))
			if errors.Is(err, mlp.ErrNotShipped) {
				continue
			}
			require.NoError(t, err)
			stated := a.Memory()
			a = nil
			before := live()
			a = parsed(t, g, Foreign(spec, nil))
			judge, err := a.evaluators.create()
			require.NoError(t, err)
			player, err := searchOf(Of(g)).New(g, judge, a.options)
			require.NoError(t, err)
			playSome(t, g, player)
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

// searching lists agents of g that search, narrow and wide.
func searching(g *env.Game) (all []string) {
	for _, name := range Of(g).Names() {
		if Of(g).Fixed[name] != nil {
			continue
		}
		all = append(all, name)
		switch entry.Base(g) {
		case "dropblox":
			all = append(all, name+":width=4", name+":width=3000,depth=3")
		case "wintetris":
		default:
			all = append(all, name+":ply=1", name+":ply=3,width=2", name+":ply=4,width=1")
			if Of(g).Outcomes > 0 {
				all = append(all, name+":nodes=20000")
			}
		}
	}
	return all
}

// playSome lets an agent choose for all seats of games with few and with many seats.
func playSome(t *testing.T, g *env.Game, a env.Agent) {
	for _, seats := range []int{g.MinSeats, g.MaxSeats} {
		s := g.New(seats)
		s.Reset(uint64(seats))
		for ply := 0; ply < 8 && s.Acting() != 0; ply++ {
			m := env.NoMoves
			for set := s.Acting(); set != 0; set = set.Rest() {
				m[set.First()] = act(t, a, s, set.First())
			}
			s.Step(m)
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
			a := parsed(t, g, Foreign(spec, nil))
			m := a.Memory()
			sum[k] = m.Spec + m.Search + m.Agent
		}
		require.Less(t, sum[0], sum[1], fmt.Sprint(c))
	}
}
