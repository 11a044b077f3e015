package dropblox

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/dropblox"
	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
)

// TestRulesDialogue plays the dialogue of RULES.md: the programs get the arguments that it shows.
func TestRulesDialogue(t *testing.T) {
	book := rulebook.Open(t, "../../../env/dropblox")
	l := envtest.Must(NewLocal("0", Clock))
	lines := rulebook.Dialogue(t, book.Blocks(t, "dialogue")[0])
	for turn := 0; len(lines) > 0; turn++ {
		require.False(t, lines[0].Bot || lines[1].Bot, "turn %d: want two arguments", turn)
		arguments := []string{string(l.Status().State), Seconds(Clock - Margin - 40*time.Millisecond*time.Duration(turn+1))}
		for k, a := range arguments {
			want, cut := strings.CutSuffix(lines[k].Text, "…")
			require.True(t, cut && strings.HasPrefix(a, want), "turn %d: %.100s, want %s", turn, a, lines[k].Text)
		}
		if turn == 1 {
			var shown, sent any
			require.NoError(t, json.Unmarshal([]byte(strings.Join(book.Blocks(t, "state")[0], "\n")), &shown))
			require.NoError(t, json.Unmarshal([]byte(arguments[0]), &sent))
			require.Equal(t, sent, shown)
		}
		output := ""
		for lines = lines[2:]; len(lines) > 0 && lines[0].Bot; lines = lines[1:] {
			output += lines[0].Text + "\n"
		}
		commands, foreign := dropblox.ReadOutput(output)
		require.Empty(t, foreign)
		require.NoError(t, l.Submit(t.Context(), commands))
	}
	require.Equal(t, 3, l.Status().Turns)
}

// TestRulesLimits compares the limits of a program with rules §9.
func TestRulesLimits(t *testing.T) {
	text := rulebook.Open(t, "../../../env/dropblox").Section("9").Text
	for said, so := range map[string]bool{
		"65,536 commands": MaxCommands == 65536, "16 MiB": maxOutput == 16<<20, "64 KiB": maxShown == 64<<10,
		"4,096 bytes": dropblox.MaxLine == 4096, "1 MiB": maxErrors == 1<<20,
		"after 1 s": exitTime == time.Second, "killed 0.5 s later": Grace == 500*time.Millisecond,
	} {
		require.True(t, so, "no longer %s: write the new limit into RULES.md", said)
		require.Contains(t, text, said)
	}
}
