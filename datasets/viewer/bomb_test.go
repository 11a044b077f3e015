package viewer

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writeBomb writes a compressed file of so many times the same text, and then an end.
func writeBomb(t *testing.T, path, text string, times int, end string) {
	t.Helper()
	member := func(text string) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, err := z.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return out.Bytes()
	}
	require.NoError(t, os.WriteFile(path, append(bytes.Repeat(member(text), times), member(end)...), 0o600))
}

// Beside small files that hold gigabytes of blank lines or of long lines, the viewer lists and shows other games in
// time. The blank lines are refused with their place.
func TestViewerBesideBombs(t *testing.T) {
	dir := t.TempDir()
	copyFile(t, "testdata/blocking4.jsonl", dir+"/good.jsonl")
	game, err := os.ReadFile(dir + "/good.jsonl")
	require.NoError(t, err)
	long := string(bytes.TrimSpace(game)) + strings.Repeat(" ", 12<<20) + "\n"
	writeBomb(t, dir+"/a blank.jsonl.gz", strings.Repeat("\n", 1<<20), 3<<10, "")
	writeBomb(t, dir+"/long.jsonl.gz", long, 256, "")
	c := serve(t, dir)
	began := time.Now()
	seen := map[string]string{}
	for len(seen) < 2 || seen["a blank.jsonl.gz:1"] == "" {
		require.Less(t, time.Since(began), 5*time.Minute)
		asked := time.Now()
		var out listed
		require.Equal(t, 200, c.get("/api/games", &out))
		require.Less(t, time.Since(asked), pause+30*time.Second)
		for _, e := range out.Games {
			if e.ID == "good.jsonl:1" || e.Error != "" {
				seen[e.ID] = e.Error
			}
		}
	}
	require.Contains(t, seen["a blank.jsonl.gz:1"], "a blank.jsonl.gz:1048577: more than 1048576 bytes of blank lines")
	require.NotEmpty(t, c.game("good.jsonl:1").Replay.Frames)
}

// A game far behind in a compressed file is not looked for when nobody waits for it any more.
func TestViewerHearsThatNobodyWaits(t *testing.T) {
	dir := t.TempDir()
	game, err := os.ReadFile("testdata/blocking4.jsonl")
	require.NoError(t, err)
	line := string(bytes.TrimSpace(game)) + strings.Repeat(" ", 12<<20) + "\n"
	writeBomb(t, dir+"/deep.jsonl.gz", line, 1<<10, string(game))
	l, err := NewLibrary([]string{dir})
	require.NoError(t, err)
	s := NewServer(l, nil)
	deep := &entry{ID: "deep", Game: "blocking", file: "deep.jsonl.gz", path: dir + "/deep.jsonl.gz", number: 1025,
		line: 1025, offset: int64(len(line)) << 10}
	l.mu.Lock()
	l.byID = map[string]*entry{"deep": deep}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/game?id="+url.QueryEscape("deep"), nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	require.Equal(t, http.StatusUnprocessableEntity, w.Code)
	require.Contains(t, w.Body.String(), "context deadline exceeded")
	require.Less(t, time.Since(began), 20*time.Second, "12 GiB are not read so fast")
}
