package tournament

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

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
		r := must(http.Get(server.URL + url))
		r.Body.Close()
		require.Equal(t, want, r.StatusCode, url)
		if url == "/" {
			require.Contains(t, r.Header.Get("Content-Security-Policy"), "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		}
	}
}

// TestHandlerTellsChanges: whoever has the page of now need not load it again, and gets one that was written since, also
// within the second of HTTP's dates.
func TestHandlerTellsChanges(t *testing.T) {
	dir, second := t.TempDir(), time.Unix(1_700_000_000, 0)
	server := httptest.NewServer(Handler(dir))
	defer server.Close()
	for _, file := range []string{PageFile, jsonFeed} {
		write := func(text string, at time.Time) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
			require.NoError(t, os.Chtimes(filepath.Join(dir, file), at, at))
		}
		ask, err := http.NewRequest(http.MethodGet, server.URL+"/"+map[string]string{jsonFeed: jsonFeed}[file], nil)
		require.NoError(t, err)
		again := func() int {
			r := must(http.DefaultClient.Do(ask))
			r.Body.Close()
			ask.Header.Set("If-Modified-Since", r.Header.Get("Last-Modified"))
			ask.Header.Set("If-None-Match", r.Header.Get("ETag"))
			return r.StatusCode
		}
		write("live", second)
		require.Equal(t, []int{200, 304}, []int{again(), again()}, file)
		write("over", second.Add(time.Millisecond))
		require.Equal(t, []int{200, 304}, []int{again(), again()}, file)
	}
}
