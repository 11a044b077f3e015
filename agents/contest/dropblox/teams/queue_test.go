package teams

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A crowd guesses passwords while the test holds the turn.
type crowd struct {
	t     *testing.T
	guard *Guard
	group sync.WaitGroup
	order chan string // who was checked, in this order
	busy  chan string // who was refused
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{t: t, order: make(chan string, 1000), busy: make(chan string, 1000)}
	c.guard = NewGuard([]Team{quick("a", "one", 2), quick("b", "two", 2)})
	require.NoError(t, c.guard.slow.enter(t.Context(), "test", ""))
	return c
}

func (c *crowd) waiting() int {
	c.guard.slow.mu.Lock()
	defer c.guard.slow.mu.Unlock()
	return len(c.guard.slow.waiting)
}

// guess waits for a turn from an address for a team, and returns when it waits or was refused.
func (c *crowd) guess(ctx context.Context, from, team string) {
	c.t.Helper()
	waiting, refused := c.waiting(), len(c.busy)
	c.group.Go(func() {
		switch err := c.guard.slow.enter(ctx, from, team); {
		case err == nil:
			c.order <- from + team
			c.guard.slow.leave()
		case errors.Is(err, ErrBusy):
			c.busy <- from + team
		}
	})
	require.Eventually(c.t, func() bool { return c.waiting() > waiting || len(c.busy) > refused }, hang, 50*time.Microsecond)
}

// hang bounds what a test waits for: it only ends one that hangs.
const hang = 2 * time.Minute

// However many guesses wait, those of another address, and those for another team, wait for
// one of them at most.
func TestGuessesTakeTurns(t *testing.T) {
	c := newCrowd(t)
	for range 60 {
		c.guess(t.Context(), "x", "a")
	}
	c.guess(t.Context(), "x", "b")
	c.guess(t.Context(), "y", "a")
	ctx, cancel := context.WithCancel(t.Context())
	c.guess(ctx, "z", "a")
	cancel() // who goes away is not waited for
	require.Eventually(t, func() bool { return c.waiting() == 62 }, hang, time.Millisecond)
	c.guard.slow.leave()
	c.group.Wait()
	require.Equal(t, []string{"xa", "ya", "xb", "xa"}, []string{<-c.order, <-c.order, <-c.order, <-c.order})
	require.Len(t, c.order, 58)
	require.False(t, c.guard.slow.busy)
}

// Only so many guesses wait. It is the address with most of them, and its team with most of
// them, whose guess is refused. A team whose password was right before is let in at once.
func TestGuessesAreBounded(t *testing.T) {
	g := NewGuard([]Team{quick("a", "one", 2)})
	ok, err := g.Check(t.Context(), "x", "a", "one")
	require.NoError(t, err)
	require.True(t, ok)
	c := newCrowd(t)
	c.guess(t.Context(), "x", "b")
	for range maxWaiting + 50 {
		c.guess(t.Context(), "x", "a")
	}
	for range 10 {
		c.guess(t.Context(), "y", "a")
	}
	require.Len(t, c.busy, 61)
	for range 61 {
		require.Equal(t, "xa", <-c.busy)
	}
	require.Equal(t, maxWaiting, c.waiting())
	require.NoError(t, g.slow.enter(t.Context(), "test", ""))
	ok, err = g.Check(t.Context(), "x", "a", "one")
	require.NoError(t, err)
	require.True(t, ok)
	c.guard.slow.leave()
	c.group.Wait()
}
