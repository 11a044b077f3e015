package tetrisduelbot

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/env/envtest/rulebook"
	"blockyard/env/tetrisduel"
)

// A listed bot answers the first placement of the list.
type listed struct{}

func (listed) Ask(_ context.Context, lines []string, _ time.Duration) (string, bool, time.Duration, error) {
	for k, l := range lines {
		if word, _ := contest.Word(l); word == wordMoves && k+1 < len(lines) {
			return lines[k+1], false, 0, nil
		}
	}
	return wordReady, false, 0, nil
}

func (listed) Close() error { return nil }

// TestRulesDialogue hosts the game of each dialogue of RULES.md: the host sends what they show, within the times
// that the page has.
func TestRulesDialogue(t *testing.T) {
	book := rulebook.Open(t, "../../../env/tetrisduel")
	require.Contains(t, book.Section("9").Text, "20,000 ms")
	require.Equal(t, 20*time.Second, DefaultTime)
	require.Contains(t, book.Section("9").Text, "no `ready` within 10 s")
	require.Equal(t, 10*time.Second, ReadyTime)
	for seat, name := range []string{"dialogue", "dialogue-2"} {
		ctx, end := context.WithCancel(t.Context())
		s := &rulebook.Script{T: t, Lines: rulebook.Dialogue(t, book.Blocks(t, name)[0]), Late: contest.ErrLate, End: end}
		bots := []contest.Asker{listed{}, listed{}}
		bots[seat] = s
		ref := &Referee{State: &tetrisduel.State{}, Time: DefaultTime}
		ref.State.Reset(1)
		h := contest.Host{Referee: ref, Limits: contest.TotalBudget(DefaultTime), Start: func(seat int) (contest.Asker, error) {
			return bots[seat], nil
		}}
		_, err := h.Play(ctx)
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Empty(t, s.Lines, "the game is over before the dialogue is")
	}
}
