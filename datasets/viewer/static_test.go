package viewer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStaticPage opens the page of one game as a file, without a server, and plays it to its end.
func TestStaticPage(t *testing.T) {
	b := browse(t, "../games")
	for _, game := range []struct {
		file, title string
	}{
		{"testdata/blocking4.jsonl", "Blocking"},
		{"../games/blockbattle.jsonl", "Block Battle"},
		{"../games/dropblox.jsonl", "Dropblox"},
	} {
		path := filepath.Join(t.TempDir(), "game.html")
		f, err := os.Create(path)
		require.NoError(t, err)
		shown, err := WriteHTML(t.Context(), f, game.file, -1)
		require.NoError(t, err)
		require.Equal(t, 1, shown.Number)
		require.NoError(t, f.Close())
		b.Home = "file://" + path
		b.Forget()
		b.Visit("")
		b.Await("document.querySelector('#boards canvas')")
		require.True(t, strings.HasPrefix(b.Text("document.title"), game.title), b.Text("document.title"))
		b.Text("document.getElementById('last').click()")
		b.Await("document.getElementById('next').disabled")
		require.NotEqual(t, "0", b.Text("document.getElementById('slider').value"))
		b.Text("location.hash = ''")
		b.Await("document.querySelectorAll('#rows .row').length === 1")
	}
	b.Clean()
}

func TestStaticPageOfNoGame(t *testing.T) {
	for number, want := range map[int]string{2: "has no game 2: it has 1 games", -2: "has no game -2"} {
		_, err := WriteHTML(t.Context(), &strings.Builder{}, "testdata/blocking4.jsonl", number)
		require.ErrorContains(t, err, want)
	}
	_, err := WriteHTML(t.Context(), &strings.Builder{}, "testdata/missing.jsonl", 1)
	require.Error(t, err)
}
