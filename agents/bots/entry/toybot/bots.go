package toybot

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
)

// After returns the positions after seat's choices in s that do not end the game.
func After(g *env.Game, s env.State, seat int) (list []env.State) {
	for _, a := range s.Legal(seat, nil) {
		after := g.New(s.SeatCount())
		after.CopyFrom(s)
		if env.After(after, seat, a); after.Acting() != 0 {
			list = append(list, after)
		}
	}
	return list
}

// Leaves checks that the values of leaves are the bits of the values of the positions they stand for, that only
// finished games are left out, and that e allocates nothing. Next returns a position and the seat that is to choose.
func Leaves(t *testing.T, g *env.Game, e search.LeafEvaluator, next func() (env.State, int)) {
	t.Helper()
	leaves, lost := 0, 0
	for leaves < envtest.Many(10_000, 100_000) {
		s, seat := next()
		s.Force(make([]uint16, env.MaxDraws))
		before, child, legal := g.New(s.SeatCount()), g.New(s.SeatCount()), s.Legal(seat, nil)
		before.CopyFrom(s)
		out, want := make([]float32, len(legal)), make([]float32, 1)
		rest := e.EvaluateLeaves(s, seat, legal, out, nil)
		require.Equal(t, before, s)
		for i, a := range legal {
			child.CopyFrom(s)
			if env.After(child, seat, a); child.Acting() == 0 {
				require.Contains(t, rest, i)
				lost++
				rest = rest[1:]
				continue
			}
			e.Evaluate([]env.State{child}, seat, want)
			require.Equal(t, want[0], out[i], "action %s of\n%v", g.Text(a), s)
		}
		require.Empty(t, rest)
		if leaves == 0 {
			rest = make([]int, 0, len(legal))
			require.Zero(t, testing.AllocsPerRun(10, func() { rest = e.EvaluateLeaves(s, seat, legal, out, rest[:0]) }))
		}
		leaves += len(legal)
	}
	require.Greater(t, lost, 50)
}

// A Bot is a contest.Asker in this process: it returns the line that answers a request, what it took, and an error of
// package contest.
type Bot func(lines []string, limit time.Duration) (answer string, took time.Duration, err error)

// Ask implements contest.Asker.
func (b Bot) Ask(_ context.Context, lines []string, limit time.Duration) (string, bool, time.Duration, error) {
	answer, took, err := b(lines, limit)
	return answer, false, took, err
}

// Close implements contest.Asker.
func (b Bot) Close() error { return nil }

// Seated is a contest.Host's Start for bots in this process.
func Seated(bots ...contest.Asker) func(seat int) (contest.Asker, error) {
	return func(seat int) (contest.Asker, error) { return bots[seat], nil }
}

// Dialogue hosts the game of a dialogue of RULES.md: the host sends what it shows to the bot of a seat.
func Dialogue(t *testing.T, h contest.Host, block []string, seat int, other contest.Asker) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	s := &rulebook.Script{T: t, Lines: rulebook.Dialogue(t, block), Late: contest.ErrLate, End: end}
	bots := []contest.Asker{other, other}
	bots[seat] = s
	h.Start = Seated(bots...)
	if _, err := h.Play(ctx); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Empty(t, s.Lines, "the game is over before the dialogue is")
}

// Talk says text to a bot of g, and returns its answers to requests and its notes.
func Talk(t testing.TB, e *entry.Entry, g *env.Game, agent env.Agent, text string) (
	answers []string, notes string, err error,
) {
	t.Helper()
	var out, noted strings.Builder
	b := contest.Bot{
		Codec: e.Codec(g, io.Discard, &noted), Agent: agent, Notes: &noted, State: g.New(g.MinSeats), View: g.New(g.MinSeats),
	}
	err = b.Play(t.Context(), strings.NewReader(text), &out)
	if text := out.String(); text != "" {
		require.True(t, strings.HasSuffix(text, "\n"))
		answers = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	return answers, noted.String(), err
}

// An Agent is an env.Agent that is a function.
type Agent func(ctx context.Context, s env.State, seat int) (env.Action, error)

// Act implements env.Agent.
func (a Agent) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	return a(ctx, s, seat)
}

// Hears checks a bot of g that answers whatever it hears. It understands good, the lines up to its first request,
// however they end, and covers for any agent. Odd dialogues, of one request each, have what the bot notes of them, or
// "" if it notes nothing; its answers to them are legal.
func Hears(
	t *testing.T, e *entry.Entry, g *env.Game, good string, legal func(answer string) bool, odd map[string]string,
) {
	t.Helper()
	hear := func(said string, agent env.Agent) (answers []string, notes string) {
		answers, notes, err := Talk(t, e, g, agent, said)
		require.NoError(t, err, said)
		return answers, notes
	}
	want, notes := hear(good, search.NewFirst())
	require.Empty(t, notes)
	for _, same := range []string{strings.ReplaceAll(good, "\n", "\r\n"), strings.TrimSuffix(good, "\n")} {
		answers, notes := hear(same, search.NewFirst())
		require.Equal(t, want, answers)
		require.Empty(t, notes)
	}
	for said, note := range odd {
		answers, notes := hear(said, search.NewFirst())
		require.Len(t, answers, len(want), note)
		require.True(t, legal(answers[len(answers)-1]), answers)
		require.Contains(t, notes, note)
		require.Equal(t, note == "", notes == "", notes)
	}

	in := bufio.NewReaderSize(strings.NewReader(good), contest.MaxLine)
	turn := envtest.Must(e.Codec(g, io.Discard, nil).ReadTurn(in, g.New(g.MinSeats)))
	for note, agent := range map[string]Agent{
		"tired": func(ctx context.Context, _ env.State, _ int) (env.Action, error) {
			at, ok := ctx.Deadline()
			require.True(t, ok)
			require.LessOrEqual(t, time.Until(at), contest.Allowance(turn))
			return 0, errors.New("tired")
		},
		"at a loss": func(context.Context, env.State, int) (env.Action, error) { panic("at a loss") },
		"not legal": func(_ context.Context, s env.State, _ int) (env.Action, error) {
			s.Reset(99) // of the view, which is the agent's own
			return env.None - 1, nil
		},
	} {
		answers, notes := hear(good, agent)
		require.Equal(t, want, answers, note)
		require.Contains(t, notes, note)
	}
}
