package dropblox_test

import (
	"testing"

	"blockyard/env/dropblox"
	"blockyard/env/envtest"
)

func TestPromises(t *testing.T) { envtest.Run(t, dropblox.Game) }

func FuzzState(f *testing.F) { envtest.Fuzz(f, dropblox.Game) }

func BenchmarkGame(b *testing.B) { envtest.Bench(b, dropblox.Game) }
