package commands

import (
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
	require.Equal(t, 6, decoded[match.Report](t, succeeds(t, line+"2")).Games)
	for _, name := range []string{"journal.jsonl", ladderReport, ladderPicture, program.RunFile} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	out := succeeds(t, line+"4")
	require.Equal(t, 12, decoded[match.Report](t, out).Games)
	require.JSONEq(t, out, read(t, filepath.Join(dir, ladderReport)))

	alias := "ladder blockbattle random me=first --games 2 --out " + t.TempDir()
	require.Regexp(t, `\n +2 +me +2 `, succeeds(t, alias))
	fails(t, 2, "is of other entrants", strings.Replace(alias, "me=first", "me=hand:ply=1", 1))

	misused(t, "ladder ", map[string]string{
		"blocking random first --games 3":                    "--games 3: want at least 1, and an even",
		"blocking random --out " + t.TempDir():               "a ladder of 1 agents",
		"blocking random first --workers=-1":                 "--workers -1, --cap",
		"blocking random nobody":                             `unknown agent "nobody"`,
		"blockbattle random --bot /nowhere/bot":              `unknown agent "/nowhere/bot"`,
		"blocking random first --cap 9 --out " + t.TempDir(): "--cap and --steps are for games of one seat",
	})
}
