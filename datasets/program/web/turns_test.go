package web

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A crowd wants turns while the test has the turn.
type crowd struct {
	t     *testing.T
	turns Turns
	group sync.WaitGroup
	order chan string // who had a turn, in this order
	busy  chan string // who was refused
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{t: t, order: make(chan string, 1000), busy: make(chan string, 1000)}
	require.NoError(t, c.turns.Enter(t.Context(), "test", ""))
	return c
}

// want waits for a turn of a client for an object, and returns when it waits or was refused.
func (c *crowd) want(ctx context.Context, client, object string) {
	c.t.Helper()
	waiting, refused := c.turns.Waiting(), len(c.busy)
	c.group.Go(func() {
		switch err := c.turns.Enter(ctx, client, object); {
		case err == nil:
			c.order <- client + object
			c.turns.Leave()
		case errors.Is(err, ErrBusy):
			c.busy <- client + object
		}
	})
	require.Eventually(c.t, func() bool { return c.turns.Waiting() > waiting || len(c.busy) > refused }, hang,
		50*time.Microsecond)
}

// hang bounds what a test waits for: it only ends one that hangs.
const hang = 2 * time.Minute

// However many requests wait, those of another client, and those for another object, wait for one of them at most.
func TestTurns(t *testing.T) {
	c := newCrowd(t)
	for range 60 {
		c.want(t.Context(), "x", "a")
	}
	c.want(t.Context(), "x", "b")
	c.want(t.Context(), "y", "a")
	ctx, cancel := context.WithCancel(t.Context())
	c.want(ctx, "z", "a")
	cancel() // who goes away is not waited for
	require.Eventually(t, func() bool { return c.turns.Waiting() == 62 }, hang, time.Millisecond)
	c.turns.Leave()
	c.group.Wait()
	require.Equal(t, []string{"xa", "ya", "xb", "xa"}, []string{<-c.order, <-c.order, <-c.order, <-c.order})
	require.Len(t, c.order, 58)
	require.False(t, c.turns.busy)
}

// Only so many requests wait. It is one of the client with most of them, and for its object with most of them, that is
// refused.
func TestTurnsAreBounded(t *testing.T) {
	c := newCrowd(t)
	c.want(t.Context(), "x", "b")
	for range MaxWaiting + 50 {
		c.want(t.Context(), "x", "a")
	}
	for range 10 {
		c.want(t.Context(), "y", "a")
	}
	require.Len(t, c.busy, 61)
	for range 61 {
		require.Equal(t, "xa", <-c.busy)
	}
	require.Equal(t, MaxWaiting, c.turns.Waiting())
	c.turns.Leave()
	c.group.Wait()
}
