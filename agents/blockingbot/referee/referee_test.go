package referee

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/blockingbot"
	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blocking"
)

// A chair is a bot in this process: it answers the first listed placement, or, from some
// request on, something else.
type chair struct {
	from   int
	answer func() (line string, cut bool, err error)
	told   [][]string
	limits []time.Duration
	closed bool
}

func (c *chair) Ask(_ context.Context, lines []string, limit time.Duration) (string, bool, time.Duration, error) {
	c.told, c.limits = append(c.told, lines), append(c.limits, limit)
	if c.answer != nil && len(c.told) >= c.from {
		line, cut, err := c.answer()
		return line, cut, time.Millisecond, err
	}
	at := len(lines) - 1 // the list is the tail; its head is the line after its length
	for strings.Contains(lines[at], " ") {
		at--
	}
	return lines[at+1], false, time.Millisecond, nil
}

func (c *chair) Close() error { c.closed = true; return nil }

var limits = Limits{First: time.Second, Later: 200 * time.Millisecond, Tolerance: 50 * time.Millisecond}

// play plays a game between chairs.
func play(t *testing.T, chairs ...*chair) ([]Tally, *blocking.State, string) {
	t.Helper()
	s := blocking.New(len(chairs), 0)
	s.Reset(3)
	var log strings.Builder
	var choices []env.Action
	g := Game{
		State: s, Limits: limits,
		Start: func(seat int) (contest.Asker, error) {
			if chairs[seat] == nil {
				return nil, errors.New("no such program")
			}
			return chairs[seat], nil
		},
		Log:   func(_ contest.Kind, _ int, text string) { log.WriteString(text + "\n") },
		Watch: func(_ *blocking.State, _ int, a env.Action) { choices = append(choices, a) },
	}
	tallies, err := g.Play(t.Context())
	require.NoError(t, err)
	again := blocking.New(len(chairs), 0)
	again.Reset(3)
	for _, a := range choices {
		again.Step(env.Alone(int(again.Turn), a))
	}
	require.Equal(t, s, again, "what was watched is the game")
	for _, c := range chairs {
		require.True(t, c == nil || c.closed || len(c.told) == 0)
	}
	return tallies, s, log.String()
}

func says(line string) func() (string, bool, error) {
	return func() (string, bool, error) { return line, false, nil }
}

func TestWholeGames(t *testing.T) {
	for seats := 2; seats <= 4; seats++ {
		chairs := make([]*chair, seats)
		for i := range chairs {
			chairs[i] = &chair{}
		}
		tallies, s, log := play(t, chairs...)
		require.NotEqual(t, blocking.Elimination, s.Reason)
		for seat, tally := range tallies {
			require.Empty(t, tally.Fault)
			require.Equal(t, s.Score(seat), tally.Score)
			require.Equal(t, s.Rank(seat), tally.Rank)
			require.Equal(t, len(chairs[seat].told), tally.Answers)
			require.LessOrEqual(t, chairs[seat].limits[0], time.Second+50*time.Millisecond)
			require.Greater(t, chairs[seat].limits[0], 900*time.Millisecond)
			require.Equal(t, 250*time.Millisecond, chairs[seat].limits[1].Round(10*time.Millisecond))
			require.Equal(t, blockingbot.Greeting(s, seat), chairs[seat].told[0][:len(blockingbot.Greeting(s, seat))])
		}
		require.Contains(t, log, "over: ")
		moves := strings.Join(chairs[1].told[1], "\n")
		require.Contains(t, moves, "\n"+string(rune('0'+seats-1))+"\n", "a round's moves of the others")
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		answer func() (string, bool, error)
		fault  string
	}{
		"nonsense":     {says("PASS"), Illegal},
		"nothing":      {says(""), Illegal},
		"five letters": {says("0 0 A0011"), Illegal},
		"an endless":   {func() (string, bool, error) { return "0 0 A001", true, nil }, Illegal},
		"late":         {func() (string, bool, error) { return "", false, contest.ErrLate }, Timeout},
		"gone":         {func() (string, bool, error) { return "", false, contest.ErrGone }, Exit},
	} {
		for _, from := range []int{1, 3} {
			tallies, s, log := play(t, &chair{}, &chair{from: from, answer: c.answer})
			require.Equal(t, blocking.Elimination, s.Reason, name)
			require.Equal(t, c.fault, tallies[1].Fault)
			require.Equal(t, []int{1, 2}, []int{tallies[0].Rank, tallies[1].Rank})
			require.Equal(t, -1, tallies[1].Score)
			require.Contains(t, log, "eliminated: "+c.fault)

			tallies, s, _ = play(t, &chair{}, &chair{from: from, answer: c.answer}, &chair{}, &chair{})
			require.NotEqual(t, blocking.Elimination, s.Reason)
			require.Equal(t, 4, tallies[1].Rank)
			require.Positive(t, tallies[2].Score)
		}
	}
	tallies, _, log := play(t, &chair{}, nil, nil)
	require.Equal(t, []string{"", Missing, Missing}, []string{tallies[0].Fault, tallies[1].Fault, tallies[2].Fault})
	require.Equal(t, []int{1, 2, 2}, []int{tallies[0].Rank, tallies[1].Rank, tallies[2].Rank})
	require.Contains(t, log, "no such program")
}

func TestStops(t *testing.T) {
	s := blocking.New(2, 0)
	stop := &chair{from: 2, answer: func() (string, bool, error) { return "", false, context.Canceled }}
	g := Game{State: s, Limits: limits, Start: func(int) (contest.Asker, error) { return stop, nil }}
	_, err := g.Play(t.Context())
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, stop.closed)
}
