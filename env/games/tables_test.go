package games_test

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/games"
)

// standing are the lines of the default shapes, but with letter E upright.
func standing() []string {
	lines := blocking.DefaultTable.Lines()
	lines[4] = "E 1 4 ####"
	return lines
}

func file(t *testing.T, lines []string) string {
	return envtest.File(t, "shapes.txt", strings.Join(lines, "\n"))
}

func TestRecordedTakesTheTableOfTheRecord(t *testing.T) {
	lines := standing()
	for k, other := range rand.Perm(len(lines)) { // a table that no earlier run of this test has shown
		lines[k] = lines[k][:1] + standing()[other][1:]
	}
	list := envtest.Must(blocking.ReadShapes(strings.NewReader(strings.Join(lines, "\n"))))
	g := envtest.Must(blocking.With(blocking.NewTable(list)))
	require.Equal(t, lines, g.Table)

	require.ErrorContains(t, envtest.Failed(games.Lookup(g.Name)), "no game", "nobody has shown the table yet")
	require.ErrorContains(t, envtest.Failed(games.Recorded(g.Name, nil)), "the record has no table")
	require.ErrorContains(t, envtest.Failed(games.Recorded(g.Name, standing())), "one of the two was changed")
	require.ErrorContains(t, envtest.Failed(games.Recorded(g.Name, lines[1:])), "20 of 21 letters")
	got := envtest.Must(games.Recorded(g.Name, lines))
	require.Equal(t, g.Name, got.Name)
	require.Same(t, got, envtest.Must(games.Lookup(g.Name)))
	require.ErrorContains(t, envtest.Failed(games.Recorded(g.Name, standing())), "another table", "also now that the name is known")
	require.ErrorContains(t, envtest.Failed(games.Recorded("blocking", lines)), "another table")
}

func TestOpenReadsAFileAndRecordedNever(t *testing.T) {
	path := file(t, standing())
	g := envtest.Must(games.Open("blocking:shapes=" + path))
	require.Regexp(t, "^blocking:shapes=[0-9a-f]{12}$", g.Name)
	again := envtest.Must(games.Open("blocking:shapes=" + file(t, append([]string{""}, standing()...))))
	require.Same(t, g, again, "the same shapes are the same game")
	for _, name := range []string{"blocking:shapes=" + path, "blocking:shapes="} {
		require.ErrorContains(t, envtest.Failed(games.Lookup(name)), "no game")
		require.ErrorContains(t, envtest.Failed(games.Recorded(name, standing())), "one of the two was changed")
	}
	same := envtest.Must(games.Open("blocking:shapes=" + file(t, blocking.DefaultTable.Lines())))
	require.Same(t, blocking.Game, same)
	require.ErrorContains(t, envtest.Failed(games.Open("blocking:shapes=/none")), "want blocking:shapes=FILE")
	require.ErrorContains(t, envtest.Failed(games.Open("blocking:shapes="+file(t, standing()[:20]))), "shapes.txt: shapes: 20 of 21")
	require.ErrorContains(t, envtest.Failed(games.Open("chess")), `no game "chess"`)
}
