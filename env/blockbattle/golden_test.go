package blockbattle_test

import (
	"testing"

	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

func TestPromises(t *testing.T) {
	t.Run("document", func(t *testing.T) { envtest.Run(t, blockbattle.Game) })
	t.Run("classic", func(t *testing.T) { envtest.Run(t, blockbattle.ClassicGame) })
	t.Run("port", func(t *testing.T) { envtest.Run(t, blockbattle.PortGame) })
}

func FuzzState(f *testing.F) { envtest.Fuzz(f, blockbattle.Game) }

func BenchmarkGame(b *testing.B) { envtest.Bench(b, blockbattle.Game) }
