package program

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Signals within a moment of the first one are the first: they do not end the process. They are sent to this thread, so
// that each has arrived when the call returns.
func TestSignalsOfOneMoment(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	terminate := func() {
		require.NoError(t, syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), syscall.SIGTERM))
	}
	var ignore func()
	waits := make(chan struct{})
	ctx, stop := heed(func(f func()) {
		ignore = f
		close(waits)
	})
	defer stop()
	terminate()
	<-ctx.Done()
	<-waits
	terminate() // it would end this test
	ignore()
}
