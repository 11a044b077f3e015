package blocking_test

import (
	"fmt"
	"testing"

	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

func TestPromises(t *testing.T) { envtest.Run(t, blocking.Game) }

// Three and four seats have playthroughs of their own.
func TestPromisesOfMoreSeats(t *testing.T) {
	for seats := 3; seats <= 4; seats++ {
		g := *blocking.Game
		g.Name, g.MinSeats, g.MaxSeats = fmt.Sprintf("blocking:%d", seats), seats, seats
		envtest.Run(t, &g)
	}
}

func FuzzState(f *testing.F) { envtest.Fuzz(f, blocking.Game) }

func BenchmarkGame(b *testing.B) { envtest.Bench(b, blocking.Game) }
