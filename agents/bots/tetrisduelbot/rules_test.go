package tetrisduelbot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/env/envtest/rulebook"
	"blockyard/env/tetrisduel"
)

// listed answers the first placement of the list.
func listed(lines []string, _ time.Duration) (string, time.Duration, error) {
	for k, l := range lines {
		if word, _ := contest.Word(l); word == wordMoves && k+1 < len(lines) {
			return lines[k+1], 0, nil
		}
	}
	return wordReady, 0, nil
}

// TestRulesDialogue hosts the game of each dialogue of RULES.md: the host sends what they show, within the times
// that the page has.
func TestRulesDialogue(t *testing.T) {
	book := rulebook.Open(t, "../../../env/tetrisduel")
	require.Contains(t, book.Section("9").Text, "20,000 ms")
	require.Equal(t, 20*time.Second, DefaultTime)
	require.Contains(t, book.Section("9").Text, "no `ready` within 10 s")
	require.Equal(t, 10*time.Second, ReadyTime)
	for seat, name := range []string{"dialogue", "dialogue-2"} {
		ref := &Referee{State: &tetrisduel.State{}, Time: DefaultTime}
		ref.State.Reset(1)
		h := contest.Host{Referee: ref, Limits: contest.TotalBudget(DefaultTime)}
		toybot.Dialogue(t, h, book.Blocks(t, name)[0], seat, toybot.Bot(listed))
	}
}
