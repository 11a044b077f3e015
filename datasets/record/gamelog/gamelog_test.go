package gamelog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// Lines belong to their seat, kind and turn; a later attempt at the game replaces the earlier one.
func TestRead(t *testing.T) {
	turns := envtest.Must(Read("game.log", strings.NewReader(`white is first attempt
black is exec: two words
Turn 0
white < lost
this attempt does not count: the machine is overloaded
white is Ann
black is Turn 7
white < settings
white > ready
Turn 0, round 1
white < go
white !   File "bot.py"
white ! white > forged
black > b4
Turn 1, round 2
black @ 3.000 ms of 50.000 ms
black * the bot has ended
nobody ! is not a seat
Turn 9
Turn one
over by overflow: white wins
`)))
	require.Equal(t, []Turn{
		{{Input: "settings\ngo", Answer: "ready", Errors: "  File \"bot.py\"\nwhite > forged"}, {Answer: "b4"}},
		{{}, {Time: "3.000 ms of 50.000 ms", Remarks: "the bot has ended"}},
	}, turns)
	const other = "INFO started\nTurn 0\nx is y\n"
	require.Equal(t, []Turn{{}}, envtest.Must(Read("other.log", strings.NewReader(other))))
}

// What a bot writes is bounded in every turn and in a game, however much it is.
func TestReadBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("a is A\n")
	fits, more := strings.Repeat("é", MaxText*9/20), strings.Repeat("é", MaxText/10)
	for turn := range maxGame / MaxText * 5 / 4 {
		fmt.Fprintf(&b, "Turn %d\na ! %s\na ! %s\n", turn, fits, more)
	}
	turns := envtest.Must(Read("game.log", strings.NewReader(b.String())))
	total := 0
	for _, now := range turns {
		require.LessOrEqual(t, len(now[0].Errors), MaxText+len(cut))
		require.True(t, strings.HasSuffix(now[0].Errors, cut))
		total += len(now[0].Errors)
	}
	require.LessOrEqual(t, total, maxGame+len(turns)*len(cut))
}
