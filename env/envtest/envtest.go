// Package envtest checks that every game keeps the promises of package env. The checks are tests of this package:
//
//	go test ./env/envtest -run TestGames/blockbattle   one game
//	go test ./env/envtest -bench Games                 what its methods cost
//
// TestGames plays random games and checks one promise per subtest. It also compares everything that can
// be observed of one seeded game with the recorded text in testdata.
//
// The environment variable BLOCKYARD_SEED=n selects other random games; BLOCKYARD_UPDATE=1
// rewrites the recorded texts. The tests of other packages read both variables here.
package envtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"blockyard/env"
)

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

// Many is how many positions a test compares: short, or long if BLOCKYARD_LONG is set, as for make soak.
func Many(short, long int) int {
	if os.Getenv("BLOCKYARD_LONG") != "" {
		return long
	}
	return short
}

// Must returns the value of a step of a test's set-up that does not fail. It panics with the error of one that does.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Must2 is Must for a step with two values.
func Must2[T, U any](v T, w U, err error) (T, U) {
	Must(v, err)
	return v, w
}

// Start returns the first position of a game, as the type that the game has.
func Start[S env.State](g *env.Game, seats int, seed uint64) S {
	s := g.New(seats).(S)
	s.Reset(seed)
	return s
}

// Frame returns what a position shows.
func Frame(s env.State) *env.Frame {
	f := new(env.Frame)
	s.Show(f)
	return f
}

// Stopped returns a context that has ended, as after Ctrl-C.
func Stopped(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Closing closes what a test has opened when the test ends.
func Closing[C io.Closer](t testing.TB, opened C) C {
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// File writes a text to a file of this name in a folder of its own, and returns its path.
func File[T string | []byte](t testing.TB, name string, text T) string {
	path := filepath.Join(t.TempDir(), name)
	Must(0, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// Has checks that a text has all of some parts.
func Has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Fatalf("%q is not in %q", part, text)
		}
	}
}

// Gzip compresses a text.
func Gzip(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	Must(w.Write([]byte(text)))
	Must(0, w.Close())
	return out.Bytes()
}

// Failed returns the error of a call whose value does not matter.
func Failed[T any](_ T, err error) error { return err }

// Failed2 is Failed for a call with two values.
func Failed2[T, U any](_ T, _ U, err error) error { return err }

// Live is the number of bytes in use.
func Live() int64 {
	var m runtime.MemStats
	for range 3 { // pools are emptied in two rounds
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Allocated returns how many bytes a call allocates, by all goroutines.
func Allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
