package blockingbot

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blocking"
)

// A listedBot is a bot in this process: it answers the first listed placement, or, from some
// request on, something else.
type listedBot struct {
	from   int
	answer func() (line string, cut bool, err error)
	told   [][]string
	limits []time.Duration
	closed bool
}

func (c *listedBot) Ask(_ context.Context, lines []string, limit time.Duration) (string, bool, time.Duration, error) {
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

func (c *listedBot) Close() error { c.closed = true; return nil }

var limits = contest.FixedPerMove(time.Second, 200*time.Millisecond, 50*time.Millisecond)

// play plays a game between bots.
func play(t *testing.T, bots ...*listedBot) ([]tally, *blocking.State, string) {
	t.Helper()
	s := blocking.New(len(bots), 0)
	s.Reset(3)
	var log strings.Builder
	var choices []env.Action
	ref := &Referee{State: s, Watch: func(acting env.Seats, m env.Moves) {
		choices = append(choices, m[acting.First()])
	}}
	host := ref.Host(limits, func(seat int) (contest.Asker, error) {
		if bots[seat] == nil {
			return nil, errors.New("no such program")
		}
		return bots[seat], nil
	})
	host.Log = func(_ contest.Kind, _ int, text string) { log.WriteString(text + "\n") }
	var tallies []contest.Tally
	synctest.Test(t, func(t *testing.T) { // what the host measures itself takes no time
		var err error
		tallies, err = host.Play(t.Context())
		require.NoError(t, err)
	})
	again := blocking.New(len(bots), 0)
	again.Reset(3)
	for _, a := range choices {
		again.Step(env.Alone(int(again.Turn), a))
	}
	require.Equal(t, s, again, "what was watched is the game")
	for _, c := range bots {
		require.True(t, c == nil || c.closed || len(c.told) == 0)
	}
	out := ref.Outcome()
	all := make([]tally, len(bots))
	for seat := range all {
		all[seat] = tally{tallies[seat], s.Score(seat), out.Ranks[seat], out.Faults[seat]}
	}
	return all, s, log.String()
}

// A tally is what one bot came to.
type tally struct {
	contest.Tally
	Score, Rank int
	Fault       string
}

func says(line string) func() (string, bool, error) {
	return func() (string, bool, error) { return line, false, nil }
}

func TestWholeGames(t *testing.T) {
	for seats := 2; seats <= 4; seats++ {
		bots := make([]*listedBot, seats)
		for i := range bots {
			bots[i] = &listedBot{}
		}
		tallies, s, log := play(t, bots...)
		require.NotEqual(t, blocking.Elimination, s.Reason)
		for seat, tally := range tallies {
			require.Empty(t, tally.Fault)
			require.Equal(t, s.Score(seat), tally.Score)
			require.Equal(t, s.Rank(seat), tally.Rank)
			require.Equal(t, len(bots[seat].told), tally.Answers)
			require.Equal(t, []time.Duration{1050 * time.Millisecond, 250 * time.Millisecond}, bots[seat].limits[:2])
			require.Equal(t, Greeting(s, seat), bots[seat].told[0][:len(Greeting(s, seat))])
		}
		require.Contains(t, log, "over: ")
		moves := strings.Join(bots[1].told[1], "\n")
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
			tallies, s, log := play(t, &listedBot{}, &listedBot{from: from, answer: c.answer})
			require.Equal(t, blocking.Elimination, s.Reason, name)
			require.Equal(t, c.fault, tallies[1].Fault)
			require.Equal(t, []int{1, 2}, []int{tallies[0].Rank, tallies[1].Rank})
			require.Equal(t, -1, tallies[1].Score)
			require.Contains(t, log, "eliminated: "+c.fault)

			tallies, s, _ = play(t, &listedBot{}, &listedBot{from: from, answer: c.answer}, &listedBot{}, &listedBot{})
			require.NotEqual(t, blocking.Elimination, s.Reason)
			require.Equal(t, 4, tallies[1].Rank)
			require.Positive(t, tallies[2].Score)
		}
	}
	tallies, _, log := play(t, &listedBot{}, nil, nil)
	require.Equal(t, []string{"", Missing, Missing}, []string{tallies[0].Fault, tallies[1].Fault, tallies[2].Fault})
	require.Equal(t, []int{1, 2, 2}, []int{tallies[0].Rank, tallies[1].Rank, tallies[2].Rank})
	require.Contains(t, log, "no such program")
}

func TestStops(t *testing.T) {
	s := blocking.New(2, 0)
	stop := &listedBot{from: 2, answer: func() (string, bool, error) { return "", false, context.Canceled }}
	host := (&Referee{State: s}).Host(limits, func(int) (contest.Asker, error) { return stop, nil })
	_, err := host.Play(t.Context())
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, stop.closed)
}
