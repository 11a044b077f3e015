package teams

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/web"
)

// hang bounds what a test waits for: it only ends one that hangs.
const hang = 2 * time.Minute

// However many guesses wait, for one team or for others, one of another address does, too, and one of their address is
// refused. A team whose password was right before is let in at once. See web.Turns for who is next.
func TestGuessesAreBounded(t *testing.T) {
	g := NewGuard([]Team{quick("a", "one", 2), quick("b", "two", 2)})
	right := func(from, team, password string) {
		t.Helper()
		ok, err := g.Check(t.Context(), from, team, password)
		require.NoError(t, err)
		require.True(t, ok)
	}
	right("x", "a", "one")
	require.NoError(t, g.slow.Enter(t.Context(), "test", ""))
	var group sync.WaitGroup
	var refused atomic.Int64
	for range web.MaxWaiting + 50 {
		group.Go(func() {
			if _, err := g.Check(t.Context(), "x", "b", "guess"); err != nil {
				require.ErrorIs(t, err, web.ErrBusy)
				refused.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return refused.Load() == 50 }, hang, time.Millisecond)
	group.Go(func() { right("y", "b", "two") })
	require.Eventually(t, func() bool { return refused.Load() == 51 }, hang, time.Millisecond)
	require.Equal(t, web.MaxWaiting, g.slow.Waiting())
	right("x", "a", "one")
	g.slow.Leave()
	group.Wait()
	require.EqualValues(t, 51, refused.Load())
}
