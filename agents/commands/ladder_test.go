package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/datasets/program"
)

// The command leaves the report, its picture and a journal with which it goes on.
func TestLadder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ladder")
	line := "ladder blocking random first hand:ply=1 --json --out " + dir + " --games "
	out := succeeds(t, line+"2")
	r := decoded[match.Report](t, out)
	require.Equal(t, 6, r.Games)
	for _, name := range []string{"journal.jsonl", ladderReport, ladderPicture, program.RunFile} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	out = succeeds(t, line+"4")
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, 12, r.Games)
	text, err := os.ReadFile(filepath.Join(dir, ladderReport))
	require.NoError(t, err)
	require.JSONEq(t, out, string(text))

	alias := "ladder blockbattle random me=first --games 2 --out " + t.TempDir()
	out = succeeds(t, alias)
	require.Regexp(t, `\n +2 +me +2 `, out)
	fails(t, strings.Replace(alias, "me=first", "me=hand:ply=1", 1), 2, "is of other entrants")

	misused(t, "ladder ", map[string]string{
		"blocking random first --games 3":                    "--games 3: want at least 1, and an even",
		"blocking random --out " + t.TempDir():               "a ladder of 1 agents",
		"blocking random first --workers=-1":                 "--workers -1, --cap",
		"blocking random nobody":                             `unknown agent "nobody"`,
		"blockbattle random --bot /nowhere/bot":              `unknown agent "/nowhere/bot"`,
		"blocking random first --cap 9 --out " + t.TempDir(): "--cap and --steps are for games of one seat",
	})
}
