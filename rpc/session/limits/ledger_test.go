package limits

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A ledger is idle from its beginning, or the end of its last session, until a session begins. Games do not matter.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(DefaultLimits(), nil)
		time.Sleep(time.Minute)
		require.Equal(t, time.Minute, l.Idle())
		a, b := l.Tab(nil), l.Tab(nil)
		require.NoError(t, a.Take(SessionUse))
		require.NoError(t, b.Take(SessionUse))
		a.Close()
		time.Sleep(time.Minute)
		require.Zero(t, l.Idle())
		b.Close()
		time.Sleep(time.Minute)
		require.NoError(t, a.Take(Use{Handles: 1, Envs: 1}))
		a.Close()
		require.Equal(t, time.Minute, l.Idle())
	})
}
