package contest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

func TestBank(t *testing.T) {
	b := NewBank(Limits{Bank: 10 * time.Second, PerMove: 500 * ms, Timeouts: 2})
	for _, c := range []struct {
		elapsed time.Duration
		late    bool
		left    time.Duration
		out     bool
	}{
		{0, false, 10 * time.Second, false},
		{400 * ms, false, 10 * time.Second, false},
		{1400 * ms, false, 9100 * ms, false},
		{9 * time.Second, false, 600 * ms, false},
		{600 * ms, false, 500 * ms, false},
		{700 * ms, true, 500 * ms, false}, // measured a little over the limit
		{100 * ms, false, 900 * ms, false},
		{899 * ms, true, 500 * ms, true}, // or under
		{-ms, false, 1000 * ms, true},
	} {
		require.Equal(t, c.out, b.Charge(c.elapsed, c.late))
		require.Equal(t, c.left, b.Left)
	}
	require.Equal(t, 9*time.Second, b.Longest)
	require.Equal(t, 2, b.Timeouts)
}

func TestAllowanceStaysWithinTheBank(t *testing.T) {
	for _, bank := range []time.Duration{1, ms, 500 * ms, 2 * time.Second, 10 * time.Second, time.Hour} {
		d := Allowance(Turn{Budget: bank, PerMove: 500 * ms})
		require.LessOrEqual(t, d, bank/3)
		require.GreaterOrEqual(t, d, min(bank/3, 150*ms))
	}
	require.Positive(t, Allowance(Turn{}))
	// Used up every time, the bank settles above what a move needs.
	b := NewBank(Limits{Bank: 10 * time.Second, PerMove: 500 * ms, Timeouts: 2})
	for range 1000 {
		b.Charge(Allowance(Turn{Budget: b.Left, PerMove: 500 * ms}), false)
	}
	require.Greater(t, b.Left, 3*time.Second)
}

// On a busy machine, on which every answer takes 200 ms more than the agent, the bank keeps time for an answer that is
// delayed by much more.
func TestAllowanceKeepsAReserve(t *testing.T) {
	b := NewBank(Limits{Bank: 10 * time.Second, PerMove: 500 * ms, Timeouts: 2})
	for range 1000 {
		b.Charge(Allowance(Turn{Budget: b.Left, PerMove: 500 * ms})+200*ms, false)
	}
	require.Zero(t, b.Timeouts)
	require.Greater(t, b.Left, 1800*ms)
}

// A bank that fills no more lasts for all the answers it is for, each of which costs something
// besides, and the last answers get as much as the first.
func TestAllowanceLastsForTheTurns(t *testing.T) {
	const turns, besides = 280, 4 * ms
	left := 20000 * ms
	first := Allowance(Turn{Budget: left, Turns: turns})
	require.Greater(t, first, 60*ms)
	for n := turns; n > 0; n-- {
		d := Allowance(Turn{Budget: left, Turns: n})
		require.Greater(t, d, first/3)
		require.LessOrEqual(t, d, left/2)
		left -= d + besides
		require.Positive(t, left, "%d answers to go", n)
	}
}
