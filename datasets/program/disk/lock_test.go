package disk

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAcquire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Acquire(path)
	require.NoError(t, err)
	_, err = Acquire(path)
	require.ErrorIs(t, err, ErrHeld)
	require.ErrorContains(t, err, path)
	require.NoError(t, release())
	again, err := Acquire(path)
	require.NoError(t, err)
	require.NoError(t, again())
	_, err = Acquire(filepath.Join(path, "no", "folder"))
	require.Error(t, err)
}

// Many try for the lock, hold it and remove the file again and again: never two of them hold it.
func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var all sync.WaitGroup
	var holders, most, got atomic.Int32
	for range 8 {
		all.Go(func() {
			for range 300 {
				release, err := Acquire(path)
				if err != nil {
					continue
				}
				if n := holders.Add(1); n > most.Load() {
					most.Store(n)
				}
				got.Add(1)
				holders.Add(-1)
				if release() != nil {
					t.Error("a lock could not be released")
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, most.Load())
	require.Positive(t, got.Load())
}
