package viewer

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/named"
	"blockyard/datasets/record"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
)

// must returns the result of a step that does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Pages and answers name commands as the reader has them: no one of "agents" and "datasets" if there is one program.
func TestPagesNameTheProgram(t *testing.T) {
	named.In = strings.NewReplacer("agents play", "blockyard play", "agents analyze", "blockyard analyze",
		"datasets view", "blockyard view").Replace
	defer func() { named.In = func(text string) string { return text } }()
	other := regexp.MustCompile(`\b(agents|datasets|train|rpc) [a-z]+ (--|FILE)`)
	server, all := NewServer(new(Library), nil), ""
	for _, page := range []string{"api", "analysis", "play", "live"} {
		w := httptest.NewRecorder()
		server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+page+".js", nil))
		require.Equal(t, fmt.Sprint(w.Body.Len()), w.Header().Get("Content-Length"))
		all += w.Body.String()
	}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/analysis?id=x&turn=0", nil))
	all += w.Body.String() + Standalone("index.html", "")
	require.NotRegexp(t, other, all)
	for _, text := range []string{"blockyard play --web", "blockyard view --web --live", "blockyard analyze FILE --web"} {
		require.Contains(t, all, text)
	}
}

// samples makes a folder of every kind of game and returns it with its history folder.
func samples(t *testing.T) (dir, history string) {
	dir = t.TempDir()
	found := must(filepath.Glob("../games/*.jsonl"))
	for _, path := range append(found, "testdata/blocking4.jsonl") {
		copyFile(t, path, filepath.Join(dir, filepath.Base(path)))
	}
	history = filepath.Join(dir, "history", "0_1360540800")
	write(t, history, 1<<30)
	return dir, history
}

func copyFile(t testing.TB, from, to string) {
	require.NoError(t, os.WriteFile(to, must(os.ReadFile(from)), 0o644))
}

// texts of a recorded history folder.
func historyTexts(t *testing.T) map[string]string {
	f := must(os.Open("testdata/history.json.gz"))
	defer f.Close()
	unzip := must(gzip.NewReader(f))
	files := map[string]string{}
	require.NoError(t, json.NewDecoder(unzip).Decode(&files))
	return files
}

// write writes the beginning of a recorded history folder: states below states and the
// moves between them.
func write(t *testing.T, dir string, states int) {
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range historyTexts(t) {
		var k int
		must(fmt.Sscanf(strings.TrimPrefix(strings.TrimPrefix(name, "state"), "move"), "%d", &k))
		if k < states && name != fmt.Sprintf("move%d", states-1) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
	}
}

type client struct {
	*testing.T
	*httptest.Server
}

func serve(t *testing.T, paths ...string) *client {
	return serveAt(t, NewServer(must(NewLibrary(paths)), nil))
}

func serveAt(t *testing.T, handler http.Handler) *client {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &client{t, server}
}

// get asks for a path and reads the answer into v.
func (c *client) get(path string, v any) int {
	c.Helper()
	reply := must(http.Get(c.URL + path))
	defer reply.Body.Close()
	text := must(io.ReadAll(reply.Body))
	if v != nil {
		require.NoError(c, json.Unmarshal(text, v), "%s: %s", path, text)
	}
	return reply.StatusCode
}

type listed struct {
	Total, All int
	Reading    bool
	Notes      []string
	Games      []entry
}

// settled asks until the answer is complete.
func settled[T any](c *client, path string, reading func(*T) bool) (out T) {
	c.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		out = *new(T)
		require.Equal(c, 200, c.get(path, &out), path)
		if !reading(&out) {
			return out
		}
		require.True(c, time.Now().Before(deadline))
	}
}

func (c *client) list(q string) listed {
	c.Helper()
	return settled(c, "/api/games?q="+url.QueryEscape(q), func(l *listed) bool { return l.Reading })
}

func (c *client) game(id string) details {
	c.Helper()
	return settled(c, "/api/game?id="+url.QueryEscape(id), func(d *details) bool { return d.Replay.Reading })
}

func (c *client) frames(id string, from, count int) (out chunk) {
	c.Helper()
	require.Equal(c, 200, c.get(fmt.Sprintf("/api/frames?id=%s&from=%d&count=%d", url.QueryEscape(id), from, count), &out))
	return out
}

func (c *client) refused(path string, status int) string {
	c.Helper()
	var out struct{ Error string }
	require.Equal(c, status, c.get(path, &out), path)
	return out.Error
}

// Every game there is has its frames; their last tells the scores of the record.
func TestEveryGame(t *testing.T) {
	dir, _ := samples(t)
	c := serve(t, dir)
	all := c.list("")
	require.Equal(t, all.Total, all.All)
	require.Empty(t, all.Notes)
	seen := map[string]bool{}
	for _, g := range all.Games {
		seen[g.Game] = true
		d := c.game(g.ID)
		require.Empty(t, d.Replay.Error, g.ID)
		last := c.frames(g.ID, d.Replay.Frames-1, 9)
		require.Len(t, last.Frames, 1)
		end := last.Frames[0]
		for seat, s := range end.Seats {
			require.Equal(t, g.Scores[seat], s.Score, g.ID)
		}
		if !g.Stopped {
			require.NotEmpty(t, end.Over, g.ID)
		}
		for _, b := range end.Boards {
			require.Len(t, b.Cells, b.W*b.H)
			require.Len(t, b.Ink, b.W*b.H)
		}
	}
	for _, g := range games.All {
		require.True(t, seen[g.Name] || strings.Contains(g.Name, ":"), g.Name)
	}
}

// A record's frames are the game's own, position by position.
func TestFramesAreTheGames(t *testing.T) {
	c := serve(t, "../games/blocking.jsonl")
	d := c.game("blocking.jsonl:1")
	require.Equal(t, 31, d.Replay.Frames)
	got := c.frames("blocking.jsonl:1", 0, 256)
	require.Len(t, got.Frames, 31)
	first := got.Frames[0]
	require.True(t, first.Seats[0].Turn)
	require.NotEmpty(t, first.Seats[0].Act)
	require.Regexp(t, `^\d+ \d+ [A-W]\d\d\d$`, first.Seats[0].Answer, "as a bot of the contest writes it")
	require.Len(t, first.Trays, 2)
	require.Equal(t, 18, len(first.Trays[0].Pieces), "18 of 21 letters are in a game of two")
	require.Regexp(t, "[a-w]", first.Boards[0].Cells, "the choice is shown where it will lie")
	end := got.Frames[30]
	require.Equal(t, float32(1), *end.Seats[1].Result)
	require.Equal(t, "hand (seat 2) wins", end.Over)
	require.Equal(t, got.Frames[7:9], c.frames("blocking.jsonl:1", 7, 2).Frames)
}

func TestRefusals(t *testing.T) {
	dir, _ := samples(t)
	secret := filepath.Join(filepath.Dir(dir), "secret.jsonl")
	copyFile(t, "../games/blocking.jsonl", secret)
	defer os.Remove(secret)
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link.jsonl")))
	c := serve(t, dir)
	for _, id := range []string{
		"../secret.jsonl:1", "secret.jsonl:1", "link.jsonl:1", "..%2fsecret.jsonl:1", "/etc/passwd", "",
		"blocking.jsonl:2", "blocking.jsonl:1/../..", "history/0_1360540800/state0", strings.Repeat("x", 5000),
	} {
		require.Contains(t, c.refused("/api/game?id="+url.QueryEscape(id), 404), "there is no game")
		c.refused("/api/frames?id="+url.QueryEscape(id), 404)
	}
	for _, path := range []string{"/../server.go", "/page/index.html", "/..%2f..%2fgo.mod", "/api", "/api/games/x"} {
		require.Contains(t, []int{404, 405, 301, 400, 307}, c.get(path, nil), path)
	}
	for query, want := range map[string]string{
		"from=-1": "want a number from 0", "from=x": "want a number from 0",
		"count=0": "from 1 to 256", "count=999": "from 1 to 256",
	} {
		require.Contains(t, c.refused("/api/frames?id=blocking.jsonl:1&"+query, 400), want)
	}
	require.Contains(t, c.refused("/api/games?count=100000", 400), "from 1 to 500")
	require.Empty(t, c.frames("blocking.jsonl:1", 1<<30, 256).Frames)
	w := httptest.NewRecorder()
	c.Config.Handler.ServeHTTP(w, httptest.NewRequest("GET", "/api/games", nil))
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
	_, err := NewLibrary([]string{filepath.Join(dir, "none")})
	require.ErrorContains(t, err, "no such file")
}

// What cannot be read is in the list and says why; the rest is not touched by it.
func TestMalformed(t *testing.T) {
	dir, history := t.TempDir(), historyTexts(t)
	good := must(os.ReadFile("../games/blocking.jsonl"))
	text := strings.TrimSpace(string(good))
	changed := func(old, new string) string { return strings.Replace(text, old, new, 1) + "\n" }
	want := map[string]string{}
	for _, c := range []struct{ file, text, id, says string }{
		{"good.jsonl", text + "\n", "good.jsonl:1", ""},
		{"half.jsonl", text + "\n" + text[:100], "half.jsonl:1", ""},
		{"json.jsonl", text + "\n{oops\n" + text + "\n", "json.jsonl:1", ""},
		{"json.jsonl", text + "\n{oops\n" + text + "\n", "json.jsonl:2", "json.jsonl:2: invalid character"},
		{"empty.jsonl", "", "", ""},
		{"packed.jsonl", "\x1f\x8b nothing", "packed.jsonl:1", "gzip: invalid"},
		{"head.jsonl", `{"game":"blocking","seats":9}` + "\n", "head.jsonl:1", "head.jsonl:1: invalid record"},
		{"chess.jsonl", changed(`"blocking"`, `"chess"`), "chess.jsonl:1", `no game "chess"`},
		{"rules.jsonl", changed(`"rules":1`, `"rules":99`), "rules.jsonl:1", "version 99 of the rules"},
		{"illegal.jsonl", changed(`"choices":[9525,9645`, `"choices":[9525,0`), "illegal.jsonl:1", "illegal"},
		{"scores.jsonl", changed(`"scores":[60,63]`, `"scores":[1,2]`), "scores.jsonl:1", "scores [60 63], recorded [1 2]"},
		{"0_7/state0", "{}", "0_7", "0_7/state0"},
		{"0_8/state0", history["state0"], "", ""},
		{"0_8/move0", "[1,2", "0_8", "0_8/move0"},
		{"0_8/state1", history["state1"], "", ""},
		{"0_9/state0", `{"state":"playing","score":3,"bitmap":[],"preview":[],"block":{}}`, "0_9", "0_9/state0"},
	} {
		path := filepath.Join(dir, c.file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
		if filepath.Dir(path) != dir {
			before := time.Now().Add(-time.Hour)
			require.NoError(t, os.Chtimes(filepath.Dir(path), before, before))
		}
		if c.id != "" {
			want[c.id] = c.says
		}
	}
	c := serve(t, dir)
	for _, g := range c.list("").Games {
		says := g.Error
		if says == "" {
			var d struct {
				Error  string
				Replay info
			}
			c.get("/api/game?id="+url.QueryEscape(g.ID), &d)
			says = cmp.Or(d.Error, d.Replay.Error)
		}
		require.Contains(t, want, g.ID)
		require.Contains(t, says, want[g.ID], g.ID)
		require.Equal(t, want[g.ID] == "", says == "", g.ID)
		delete(want, g.ID)
	}
	require.Empty(t, want)
	require.Equal(t, 2, c.game("illegal.jsonl:1").Replay.Frames, "as far as it holds")
}

// FuzzServer sends the viewer any query: it answers with a status of its own, and lists its games
// afterwards.
func FuzzServer(f *testing.F) {
	dir := f.TempDir()
	copyFile(f, "testdata/blocking4.jsonl", dir+"/blocking4.jsonl")
	l := must(NewLibrary([]string{dir}))
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
		ask := func(path, query, host string) (status int, body string) {
			r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
			r.URL.RawQuery, r.Host = query, cmp.Or(host, "localhost")
			s.ServeHTTP(w, r)
			return w.Code, w.Body.String()
		}
		status, body := ask(path, query, host)
		require.Contains(t, []int{200, 301, 302, 400, 403, 404, 413, 422, 500, 503}, status)
		require.NotContains(t, body, "goroutine ")
		status, body = ask("/api/games", "", "")
		require.Equal(t, 200, status)
		require.Contains(t, body, "blocking")
	})
}

func TestKinds(t *testing.T) {
	for name, want := range map[string]kind{
		"blockbattle:classic": {Title: "Block Battle, classic", Unit: "move"},
		"dropblox":            {Title: "Dropblox", Unit: "turn"},
		"wintetris":           {Title: "WinTetris", Unit: "move"},
		"no such:game":        {Title: "No such, game", Unit: "move"},
		"élan":                {Title: "Élan", Unit: "move"},
		"":                    {Unit: "move"},
	} {
		got := kindOf(name)
		_, err := games.Lookup(name)
		require.Equal(t, err == nil, got.Sign != nil, name)
		got.Sign = nil
		require.Equal(t, want, got, name)
	}
}

// A game that shows no pieces has no sign, and one without a title its name.
func TestKindOfAToy(t *testing.T) {
	require.Nil(t, sign(toy.Pick.New(2)))
	require.Empty(t, toy.Pick.Title)
	games.All = append(games.All, toy.Pick)
	defer func() { games.All = games.All[:len(games.All)-1] }()
	require.Equal(t, kind{Title: "Toy, pick", Unit: "move"}, kindOf("toy:pick"))

	path := filepath.Join(t.TempDir(), "toy.jsonl")
	w := must(record.Create(path))
	s, rec := toy.Pick.New(2), record.New(toy.Pick, 0, []string{"a", "b"})
	s.Reset(0)
	rec.End(s)
	require.NoError(t, errors.Join(w.Write(rec), w.Close()))
	c := serve(t, path)
	require.Equal(t, "toy:pick", c.list("").Games[0].Game)
	require.Equal(t, "card", c.frames("toy.jsonl:1", 0, 1).Frames[0].Boards[0].Name)
}

// all returns every frame of a game.
func (c *client) all(id string) (all []Frame) {
	c.Helper()
	d := c.game(id)
	require.Empty(c, d.Replay.Error)
	for from := 0; from < d.Replay.Frames; from += chunkSize {
		all = append(all, c.frames(id, from, chunkSize).Frames...)
	}
	return all
}

// writeBomb writes a compressed file of so many times the same text, and then an end.
func writeBomb(t *testing.T, path, text string, times int, end string) {
	t.Helper()
	member := func(text string) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		must(z.Write([]byte(text)))
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
	game := must(os.ReadFile(dir + "/good.jsonl"))
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
	game := must(os.ReadFile("testdata/blocking4.jsonl"))
	line := string(bytes.TrimSpace(game)) + strings.Repeat(" ", 12<<20) + "\n"
	writeBomb(t, dir+"/deep.jsonl.gz", line, 1<<10, string(game))
	l := must(NewLibrary([]string{dir}))
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
