package blockingbot

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/env/envtest/rulebook"
)

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
	h := (&Referee{State: example(t)}).Host(contest.FixedPerMove(FirstTime, LaterTime, 50*time.Millisecond), nil)
	synctest.Test(t, func(t *testing.T) { toybot.Dialogue(t, h, book.Blocks(t, "dialogue")[0], 0, other) })
}
