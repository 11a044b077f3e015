package paint

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// A position of Block Battle fits a terminal of 80 columns and 24 rows, with two lines above and below it, in colour and
// without. Nothing is lost, and notes that have room stay below the boards.
func TestTerminal(t *testing.T) {
	f := envtest.Frame(blockbattle.Game.New(2))
	all := strings.Fields(strings.ReplaceAll(strings.Join(f.Notes, " "), "|", ""))
	for _, colour := range []bool{false, true} {
		text := Terminal(f, colour, "seat 1 (hand): score 18, plays r3 x8 y10", "seat 2 (hand): score 18")
		text = regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(text, "")
		require.LessOrEqual(t, strings.Count(text, "\n"), 22)
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSpace(line)), 79, line)
		}
		for _, word := range append(all, "plays", "y10") {
			require.Contains(t, text, word)
		}
		require.Regexp(t, `(?m)^[.# ]+ seat 2 \(hand\): `, text, "beside the boards")
	}
	f.Reset()
	blocking.Game.New(2).Show(f)
	require.Equal(t, f.String(), Terminal(f, false))
}
