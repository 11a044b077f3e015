package tetrisduel_test

import (
	"testing"

	"blockyard/env/envtest"
	"blockyard/env/tetrisduel"
)

func TestPromises(t *testing.T) { envtest.Run(t, tetrisduel.Game) }

func FuzzState(f *testing.F) { envtest.Fuzz(f, tetrisduel.Game) }

func BenchmarkGame(b *testing.B) { envtest.Bench(b, tetrisduel.Game) }
