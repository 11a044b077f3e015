package games_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/blocking"
	"blockyard/env/games"
)

// standing are the lines of the default shapes, but with letter E upright.
func standing() []string {
	lines := blocking.DefaultTable.Lines()
	lines[4] = "E 1 4 ####"
	return lines
}

func file(t *testing.T, lines []string) string {
	path := filepath.Join(t.TempDir(), "shapes.txt")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return path
}

func TestRecordedTakesTheTableOfTheRecord(t *testing.T) {
	lines := standing()
	lines[9] = "J 1 5 #####"
	list, err := blocking.ReadShapes(strings.NewReader(strings.Join(lines, "\n")))
	require.NoError(t, err)
	g, err := blocking.With(blocking.NewTable(list))
	require.NoError(t, err)
	require.Equal(t, lines, g.Table)

	_, err = games.Lookup(g.Name)
	require.ErrorContains(t, err, "no game", "nobody has shown the table yet")
	_, err = games.Recorded(g.Name, nil)
	require.ErrorContains(t, err, "the record has no table")
	_, err = games.Recorded(g.Name, standing())
	require.ErrorContains(t, err, "one of the two was changed")
	_, err = games.Recorded(g.Name, lines[1:])
	require.ErrorContains(t, err, "20 of 21 letters")
	got, err := games.Recorded(g.Name, lines)
	require.NoError(t, err)
	require.Equal(t, g.Name, got.Name)
	known, err := games.Lookup(g.Name)
	require.NoError(t, err)
	require.Same(t, got, known)
	_, err = games.Recorded(g.Name, standing())
	require.ErrorContains(t, err, "another table", "also now that the name is known")
	_, err = games.Recorded("blocking", lines)
	require.ErrorContains(t, err, "another table")
}

func TestOpenReadsAFileAndRecordedNever(t *testing.T) {
	path := file(t, standing())
	g, err := games.Open("blocking:shapes=" + path)
	require.NoError(t, err)
	require.Regexp(t, "^blocking:shapes=[0-9a-f]{12}$", g.Name)
	again, err := games.Open("blocking:shapes=" + file(t, append([]string{""}, standing()...)))
	require.NoError(t, err)
	require.Same(t, g, again, "the same shapes are the same game")
	for _, name := range []string{"blocking:shapes=" + path, "blocking:shapes="} {
		_, err = games.Lookup(name)
		require.ErrorContains(t, err, "no game")
		_, err = games.Recorded(name, standing())
		require.ErrorContains(t, err, "one of the two was changed")
	}
	same, err := games.Open("blocking:shapes=" + file(t, blocking.DefaultTable.Lines()))
	require.NoError(t, err)
	require.Same(t, blocking.Game, same)
	_, err = games.Open("blocking:shapes=/none")
	require.ErrorContains(t, err, "want blocking:shapes=FILE")
	_, err = games.Open("blocking:shapes=" + file(t, standing()[:20]))
	require.ErrorContains(t, err, "shapes.txt: shapes: 20 of 21")
	_, err = games.Open("chess")
	require.ErrorContains(t, err, `no game "chess"`)
}
