package blockingbot

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/env/envtest/rulebook"
)

// A reciter answers what it has, one line after another.
type reciter struct{ answers []string }

func (r *reciter) Ask(context.Context, []string, time.Duration) (string, bool, time.Duration, error) {
	answer := r.answers[0]
	r.answers = r.answers[1:]
	return answer, false, 0, nil
}

func (r *reciter) Close() error { return nil }

// TestRulesDialogue hosts the game of the dialogue of RULES.md: the host sends what it shows.
func TestRulesDialogue(t *testing.T) {
	book := rulebook.Open(t, "../../../env/blocking")
	require.Contains(t, book.Section("9").Text, "the first answer takes more than 1000 ms, or a later one more than 200 ms")
	require.Equal(t, []time.Duration{time.Second, 200 * time.Millisecond}, []time.Duration{FirstTime, LaterTime})
	ctx, end := context.WithCancel(t.Context())
	s := &rulebook.Script{T: t, Lines: rulebook.Dialogue(t, book.Blocks(t, "dialogue")[0]), Late: contest.ErrLate, End: end}
	bots := []contest.Asker{s, &reciter{[]string{"12 12 R121", "9 9 A001"}}}
	ref := &Referee{State: example(t)}
	h := ref.Host(contest.FixedPerMove(FirstTime, LaterTime, 50*time.Millisecond), func(seat int) (contest.Asker, error) {
		return bots[seat], nil
	})
	synctest.Test(t, func(t *testing.T) {
		_, err := h.Play(ctx)
		require.ErrorIs(t, err, context.Canceled, "the game is over before the dialogue is")
	})
	require.Empty(t, s.Lines)
}
