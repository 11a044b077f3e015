package envtest

import (
	"fmt"
	"slices"
	"testing"

	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/dropblox"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/tetrisduel"
	"blockyard/env/wintetris"
)

// all are the games under test: every game, its variants, and the toy games.
var all = append(slices.Clone(games.All), toy.Pick, toy.Turns)

func TestGames(t *testing.T) {
	for _, g := range all {
		t.Run(g.Name, func(t *testing.T) { run(t, g) })
	}
}

// Blocking with three and four seats has playthroughs of its own.
func TestPlaythroughsOfMoreSeats(t *testing.T) {
	for seats := 3; seats <= 4; seats++ {
		g := *blocking.Game
		g.Name, g.MinSeats, g.MaxSeats = fmt.Sprintf("blocking:%d", seats), seats, seats
		t.Run(g.Name, func(t *testing.T) { playthrough(t, &g) })
	}
}

func BenchmarkGames(b *testing.B) {
	for _, g := range all {
		b.Run(g.Name, func(b *testing.B) { bench(b, g) })
	}
}

func FuzzBlockbattle(f *testing.F)      { fuzz(f, blockbattle.Game) }
func FuzzTetrisduel(f *testing.F)       { fuzz(f, tetrisduel.Game) }
func FuzzBlocking(f *testing.F)         { fuzz(f, blocking.Game) }
func FuzzWintetris(f *testing.F)        { fuzz(f, wintetris.Game) }
func FuzzWintetrisInstant(f *testing.F) { fuzz(f, wintetris.InstantGame) }
func FuzzWintetrisTick(f *testing.F)    { fuzz(f, wintetris.TickGame) }
func FuzzWintetrisPaper10(f *testing.F) { fuzz(f, wintetris.Paper10Game) }
func FuzzWintetrisPaper20(f *testing.F) { fuzz(f, wintetris.Paper20Game) }
func FuzzDropblox(f *testing.F)         { fuzz(f, dropblox.Game) }
func FuzzPick(f *testing.F)             { fuzz(f, toy.Pick) }
func FuzzTurns(f *testing.F)            { fuzz(f, toy.Turns) }
