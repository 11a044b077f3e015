package blockingbot

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
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
func play(t *testing.T, bots ...*listedBot) (contest.Outcome, *blocking.State, string) {
	s := envtest.Start[*blocking.State](blocking.Game, len(bots), 3)
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
	synctest.Test(t, func(t *testing.T) { // what the host measures itself takes no time
		tallies := envtest.Must(host.Play(t.Context()))
		for seat, c := range bots {
			require.True(t, c == nil || c.closed || len(c.told) == 0)
			require.True(t, c == nil || c.answer != nil || len(c.told) == tallies[seat].Answers)
		}
	})
	again := envtest.Start[*blocking.State](blocking.Game, len(bots), 3)
	for _, a := range choices {
		again.Step(env.Alone(int(again.Turn), a))
	}
	require.Equal(t, s, again, "what was watched is the game")
	return ref.Outcome(), s, log.String()
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
		out, s, log := play(t, bots...)
		require.NotEqual(t, blocking.Elimination, s.Reason)
		require.Equal(t, make([]string, seats), out.Faults)
		for seat := range bots {
			require.Equal(t, []int{s.Score(seat), s.Rank(seat)}, []int{out.Points[seat], out.Ranks[seat]})
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
			out, s, log := play(t, &listedBot{}, &listedBot{from: from, answer: c.answer})
			require.Equal(t, blocking.Elimination, s.Reason, name)
			require.Equal(t, []string{"", c.fault}, out.Faults)
			require.Equal(t, []int{1, 2}, out.Ranks)
			require.Equal(t, -1, s.Score(1))
			require.Contains(t, log, "eliminated: "+c.fault)

			out, s, _ = play(t, &listedBot{}, &listedBot{from: from, answer: c.answer}, &listedBot{}, &listedBot{})
			require.NotEqual(t, blocking.Elimination, s.Reason)
			require.Equal(t, 4, out.Ranks[1])
			require.Positive(t, s.Score(2))
		}
	}
	out, _, log := play(t, &listedBot{}, nil, nil)
	require.Equal(t, []string{"", Missing, Missing}, out.Faults)
	require.Equal(t, []int{1, 2, 2}, out.Ranks)
	require.Contains(t, log, "no such program")
}

func TestStops(t *testing.T) {
	s := blocking.New(2, 0)
	stop := &listedBot{from: 2, answer: func() (string, bool, error) { return "", false, context.Canceled }}
	host := (&Referee{State: s}).Host(limits, func(int) (contest.Asker, error) { return stop, nil })
	require.ErrorIs(t, envtest.Failed(host.Play(t.Context())), context.Canceled)
	require.True(t, stop.closed)
}

// TestRulesDialogue hosts the game of the dialogue of RULES.md: the host sends what it shows.
func TestRulesDialogue(t *testing.T) {
	book := rulebook.Open(t, "../../../env/blocking")
	require.Contains(t, book.Section("9").Text, "the first answer takes more than 1000 ms, or a later one more than 200 ms")
	require.Equal(t, []time.Duration{time.Second, 200 * time.Millisecond}, []time.Duration{FirstTime, LaterTime})
	answers := []string{"12 12 R121", "9 9 A001"}
	other := toybot.Bot(func([]string, time.Duration) (answer string, _ time.Duration, _ error) {
		answer, answers = answers[0], answers[1:]
		return answer, 0, nil
	})
	h := (&Referee{State: example()}).Host(contest.FixedPerMove(FirstTime, LaterTime, 50*time.Millisecond), nil)
	synctest.Test(t, func(t *testing.T) { toybot.Dialogue(t, h, book.Blocks(t, "dialogue")[0], 0, other) })
}
