package envtest

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"blockyard/env"
)

// A promise is one requirement of package env. check plays random games, which follow from seed, and
// returns an error that says how a game broke the promise.
type promise struct {
	name  string
	check func(g *env.Game, seats int, seed uint64) error
}

// promises lists what Run checks besides the playthrough.
var promises = []promise{
	{"facts", facts},
	{"flat state", flat},
	{"legal moves", legalMoves},
	{"action text", actionText},
	{"step and check", stepAndCheck},
	{"illegal input", illegalInput},
	{"result", result},
	{"ends", ends},
	{"determinism", determinism},
	{"copies", copies},
	{"bytes", roundTrip},
	{"foreign bytes", foreignBytes},
	{"observation", observation},
	{"looking changes nothing", lookingOnly},
	{"hidden information", hidden},
	{"nothing leaks", leaks},
	{"forced draws", forcedDraws},
	{"afterstates", afterstates},
	{"frames", frames},
	{"no allocation", noAllocation},
}

// Run checks every promise for every number of seats, and the playthrough.
func Run(t *testing.T, g *env.Game) {
	t.Helper()
	seed := Seed(t)
	for seats := g.MinSeats; seats <= g.MaxSeats; seats++ {
		t.Run(fmt.Sprintf("%d seats", seats), func(t *testing.T) {
			for _, p := range promises {
				t.Run(p.name, func(t *testing.T) {
					if err := guard(func() error { return p.check(g, seats, seed) }); err != nil {
						t.Errorf("%s, %d seats, seed %d: %v", g.Name, seats, seed, err)
					}
				})
			}
		})
	}
	t.Run("playthrough", func(t *testing.T) { playthrough(t, g) })
}

// Seed returns the seed of the random games: BLOCKYARD_SEED, or 1 by default.
func Seed(t testing.TB) uint64 {
	text := os.Getenv("BLOCKYARD_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatalf("BLOCKYARD_SEED: %v", err)
	}
	t.Logf("BLOCKYARD_SEED=%d", seed)
	return seed
}

// Updating reports whether recorded files are to be rewritten.
func Updating() bool { return os.Getenv("BLOCKYARD_UPDATE") == "1" }

// guard turns a panic in f into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
