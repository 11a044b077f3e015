package tournament

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHandlerSharesNoSources: the page and what it links to, and nothing else.
func TestHandlerSharesNoSources(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"index.html", "logs/0001.log", "games/0001.jsonl.gz", "replays/0001.html", "build/a/bot.py",
		"tournament.json", "journal.jsonl", "authors.json", "feed.json", "feed.atom"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("text"), 0o644))
	}
	server := httptest.NewServer(Handler(dir))
	defer server.Close()
	for url, want := range map[string]int{
		"/": 200, "/logs/0001.log": 200, "/games/0001.jsonl.gz": 200, "/replays/0001.html": 200,
		"/build/a/bot.py": 404, "/tournament.json": 404, "/journal.jsonl": 404, "/logs/../build/a/bot.py": 404,
		"/logs/%2e%2e/build/a/bot.py": 404, "/logs": 404, "/authors.json": 404, "/feed.json": 200, "/feed.atom": 200,
	} {
		r, err := http.Get(server.URL + url)
		require.NoError(t, err)
		r.Body.Close()
		require.Equal(t, want, r.StatusCode, url)
		if url == "/" {
			require.Contains(t, r.Header.Get("Content-Security-Policy"), "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		}
	}
}
