package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env/blocking"
	"blockyard/env/games"
)

// With other shapes of the pieces, records of every command have the shapes in them, and replay.
func TestHostBlockingWithOtherShapes(t *testing.T) {
	lines := blocking.DefaultTable.Lines()
	lines[4] = "E 1 4 ####" // upright
	file := written(t, "shapes.txt", strings.Join(lines, "\n"))
	ours := built(t) + " bot blocking:shapes=" + file + " --agent hand:ply=1"
	var records strings.Builder
	recorded := func(line string, more ...string) string {
		path := filepath.Join(t.TempDir(), "games.jsonl")
		out := succeeds(t, strings.ReplaceAll(line, "FILE", file)+" --record "+path, more...)
		records.WriteString(read(t, path))
		return out
	}
	out := recorded("host blocking --shapes FILE --games 2 --json --early-end off --tolerance 5s", "--bot", ours, "--bot", listed)
	require.Regexp(t, `"game":"blocking:shapes=[0-9a-f]{12}"`, out)
	require.NotContains(t, out, `"faults":{`)
	recorded("host blocking:shapes=FILE --tolerance 5s", "--bot", ours, "--bot", ours)
	for _, line := range []string{
		"arena blocking:shapes=FILE --a hand:ply=1 --b learned:ply=1 --games 2",
		"arena blocking:shapes=FILE --a first --b random --seats 3 --games 3",
		"play blocking:shapes=FILE --a learned --b first --seats 4",
	} {
		recorded(line)
	}
	require.NoError(t, os.Remove(file))
	require.Len(t, checked(t, written(t, "all.jsonl", records.String())), 10)
	require.Equal(t, 10, strings.Count(records.String(), `"E 1 4 ####"`), "every record has the shapes")

	spoilt := strings.ReplaceAll(records.String(), `"E 1 4 ####"`, `"E 4 1 ####"`)
	in, err := record.NewReader("spoilt", strings.NewReader(spoilt))
	require.NoError(t, err)
	_, err = record.CheckNext(in, games.Recorded)
	require.ErrorIs(t, err, record.ErrDiffers)
	require.ErrorContains(t, err, "one of the two was changed")
}
