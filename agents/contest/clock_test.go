package contest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
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
}

// TestAllowanceKeepsAReserve: the bank keeps time for an answer that is delayed, most on a quiet machine, and also on a busy
// one, on which every answer takes 200 ms more than the agent.
func TestAllowanceKeepsAReserve(t *testing.T) {
	for besides, least := range map[time.Duration]time.Duration{0: 3000 * ms, 200 * ms: 1800 * ms} {
		b := NewBank(Limits{Bank: 10 * time.Second, PerMove: 500 * ms, Timeouts: 2})
		for range 1000 {
			b.Charge(Allowance(Turn{Budget: b.Left, PerMove: 500 * ms})+besides, false)
		}
		require.Zero(t, b.Timeouts)
		require.Greater(t, b.Left, least)
	}
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

// A metronome is a contest of one seat and so many rounds.
type metronome struct {
	Referee
	rounds int
	faults []Fault
}

func (m *metronome) Names() []string { return []string{"player1"} }
func (m *metronome) Round() (string, []int) {
	if m.rounds--; m.rounds < 0 {
		return "", nil
	}
	return "", []int{0}
}
func (m *metronome) Request(int, time.Duration) Request { return Request{Lines: []string{"tick"}} }
func (m *metronome) Answer(_ int, r Reply) ([]string, bool) {
	m.faults = append(m.faults, r.Fault)
	return nil, false
}
func (m *metronome) Close() []Comment { return nil }

// clocked is a bot whose answers are measured by a clock that jumps.
type clocked struct {
	took []time.Duration
	err  error
	left []time.Duration // what it was given
	said []Kind          // by the host; Error is its own last word
}

func (c *clocked) Ask(_ context.Context, _ []string, limit time.Duration) (string, bool, time.Duration, error) {
	took := c.took[len(c.left)]
	c.left = append(c.left, limit)
	return "tock", false, took, c.err
}

func (c *clocked) Close() error { c.said = append(c.said, Error); return nil }

// play plays as many rounds as it has answers.
func (c *clocked) play(t *testing.T, ref *metronome, l Limits) (Tally, error) {
	ref.rounds = len(c.took)
	h := Host{Referee: ref, Limits: l, Hint: "another dialect?", Start: func(int) (Asker, error) { return c, nil },
		Log: func(k Kind, _ int, _ string) { c.said = append(c.said, k) }}
	tallies, err := h.Play(t.Context())
	return tallies[0], err
}

// TestClockJumps: an answer during which the machine slept is late and no more; one during which the clock was set back
// took no time. A bot gains nothing by either, and what it says when it ends comes after the game.
func TestClockJumps(t *testing.T) {
	const hour = time.Hour
	ref, bot := &metronome{}, &clocked{took: []time.Duration{100 * ms, 7 * hour, 100 * ms, -7 * hour, -ms, 100 * ms}}
	tally := envtest.Must(bot.play(t, ref, Limits{Bank: 10 * time.Second, PerMove: 500 * ms, Timeouts: 3}))
	require.Equal(t, []Fault{NoFault, Late, NoFault, NoFault, NoFault, NoFault}, ref.faults)
	require.Equal(t, []time.Duration{10000 * ms, 10000 * ms, 500 * ms, 900 * ms, 1400 * ms, 1900 * ms}, bot.left)
	require.Equal(t, 2300*ms, tally.Left)
	require.Equal(t, 7*hour+300*ms, tally.Used)
	require.Equal(t, 1, tally.Timeouts)
	require.Equal(t, []Kind{Over, Error}, bot.said[len(bot.said)-2:])
}

// TestAHintForTheSilent is given only for a bot that never answers.
func TestAHintForTheSilent(t *testing.T) {
	for _, took := range []time.Duration{ms, time.Minute} {
		tally := envtest.Must((&clocked{took: []time.Duration{took}}).play(t, &metronome{}, Limits{Bank: time.Second}))
		require.Equal(t, took == time.Minute, slices.Contains(tally.Odd, "another dialect?"))
	}
}

// TestAGameThatCannotBeTimedEnds, with the error that makes it void.
func TestAGameThatCannotBeTimedEnds(t *testing.T) {
	bot := &clocked{took: make([]time.Duration, 6), err: ErrStalled}
	tally, err := bot.play(t, &metronome{}, Limits{Bank: time.Second})
	require.ErrorIs(t, err, ErrStalled)
	require.Len(t, bot.left, 1)
	require.Zero(t, tally.Timeouts)
	require.Contains(t, bot.said, Time)
}

// TestRulesLimits compares the limits of a host with section 9 of the contests' RULES.md.
func TestRulesLimits(t *testing.T) {
	limits := map[string]bool{
		"16,384 bytes": MaxLine == 16384, "64 MiB": maxChatter == 64<<20, "1 MiB": maxErrors == 1<<20,
		"4,096 bytes": maxErrLine == 4096, "300 ms": leaveTime == 300*time.Millisecond,
	}
	for _, game := range []string{"blockbattle", "tetrisduel", "blocking"} {
		text := rulebook.Open(t, "../../env/"+game).Section("9").Text
		for said, so := range limits {
			require.True(t, so, "no longer %s: write the new limit into all RULES.md", said)
			require.Contains(t, text, said, game)
		}
	}
}
