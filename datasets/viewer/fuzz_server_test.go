package viewer

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzServer sends the viewer any query: it answers with a status of its own, and lists its games
// afterwards.
func FuzzServer(f *testing.F) {
	dir := f.TempDir()
	copyFile(f, "testdata/blocking4.jsonl", dir+"/blocking4.jsonl")
	l, err := NewLibrary([]string{dir})
	require.NoError(f, err)
	s := NewServer(l, new(counting))
	paths := []string{"/api/games", "/api/game", "/api/frames", "/api/marked", "/api/analysis", "/"}
	f.Add(uint8(0), "from=0&count=5&q=blocking", "")
	f.Add(uint8(1), "id=GAME&known=3", "")
	f.Add(uint8(2), "id=GAME&from=999999999999&count=256", "")
	f.Add(uint8(3), "id=GAME&cell=3", "")
	f.Add(uint8(4), "id=GAME&turn=2&agent=first", "")
	f.Add(uint8(1), "id=1", "localhost:99999")
	f.Add(uint8(5), "", "[::1]")
	f.Fuzz(func(t *testing.T, which uint8, query, host string) {
		path := paths[int(which)%len(paths)]
		first := l.list()[:min(1, len(l.list()))]
		if len(first) > 0 {
			query = strings.ReplaceAll(query, "GAME", url.QueryEscape(first[0].ID))
		}
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.URL.RawQuery, r.Host = query, "localhost"
		if host != "" {
			r.Host = host
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		require.Contains(t, []int{200, 301, 302, 400, 403, 404, 413, 422, 500, 503}, w.Code)
		require.NotContains(t, w.Body.String(), "goroutine ")
		w = httptest.NewRecorder()
		r = httptest.NewRequest(http.MethodGet, "/api/games", nil)
		r.Host = "localhost"
		s.ServeHTTP(w, r)
		require.Equal(t, 200, w.Code)
		require.Contains(t, w.Body.String(), "blocking")
	})
}
