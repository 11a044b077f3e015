package wintetris_test

import (
	"testing"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

var variants = []*env.Game{wintetris.Game, wintetris.InstantGame, wintetris.TickGame}

func TestPromises(t *testing.T) {
	for _, g := range variants {
		t.Run(g.Name, func(t *testing.T) { envtest.Run(t, g) })
	}
}

func FuzzState(f *testing.F)        { envtest.Fuzz(f, wintetris.Game) }
func FuzzInstantState(f *testing.F) { envtest.Fuzz(f, wintetris.InstantGame) }
func FuzzTickState(f *testing.F)    { envtest.Fuzz(f, wintetris.TickGame) }

func BenchmarkGame(b *testing.B) {
	for _, g := range variants {
		b.Run(g.Name, func(b *testing.B) { envtest.Bench(b, g) })
	}
}
