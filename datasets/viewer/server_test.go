package viewer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/named"
	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/record"
	"blockyard/datasets/record/jsonl"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/paint"
)

// Pages and answers name commands as the reader has them: no one of "agents" and "datasets" if there is one program.
func TestPagesNameTheProgram(t *testing.T) {
	named.In = strings.NewReplacer("agents play", "blockyard play", "agents analyze", "blockyard analyze",
		"datasets view", "blockyard view").Replace
	defer func() { named.In = func(text string) string { return text } }()
	other := regexp.MustCompile(`\b(agents|datasets|train|rpc) [a-z]+ (--|FILE)`)
	server, all := NewServer(new(Library), nil), Standalone("index.html", "")
	for _, page := range []string{"api.js", "analysis.js", "play.js", "live.js", "api/analysis?id=x&turn=0"} {
		w := httptest.NewRecorder()
		server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+page, nil))
		if strings.HasSuffix(page, ".js") {
			require.Equal(t, fmt.Sprint(w.Body.Len()), w.Header().Get("Content-Length"))
		}
		all += w.Body.String()
	}
	require.NotRegexp(t, other, all)
	for _, text := range []string{"blockyard play --web", "blockyard view --web --live", "blockyard analyze FILE --web"} {
		require.Contains(t, all, text)
	}
}

// samples makes a folder of every kind of game and returns it with its history folder.
func samples(t *testing.T) (dir, history string) {
	dir = t.TempDir()
	for _, path := range append(envtest.Must(filepath.Glob("../games/*.jsonl")), "testdata/blocking4.jsonl") {
		copyFile(t, path, filepath.Join(dir, filepath.Base(path)))
	}
	history = filepath.Join(dir, "history", "0_1360540800")
	write(t, history, 1<<30)
	return dir, history
}

func copyFile(t testing.TB, from, to string) {
	require.NoError(t, os.WriteFile(to, envtest.Must(os.ReadFile(from)), 0o644))
}

// texts of a recorded history folder.
func historyTexts(t *testing.T) map[string]string {
	file := envtest.Closing(t, envtest.Must(jsonl.Open("testdata/history.json.gz")))
	files := map[string]string{}
	require.NoError(t, json.Unmarshal(envtest.Must(file.Next()), &files))
	return files
}

// write writes the beginning of a recorded history folder: states below states and the
// moves between them.
func write(t *testing.T, dir string, states int) {
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range historyTexts(t) {
		var k int
		envtest.Must(fmt.Sscanf(strings.TrimPrefix(strings.TrimPrefix(name, "state"), "move"), "%d", &k))
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
	return serveAt(t, NewServer(envtest.Must(NewLibrary(paths)), nil))
}

func serveAt(t *testing.T, handler http.Handler) *client {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &client{t, server}
}

// get asks for a path and reads the answer into v.
func (c *client) get(path string, v any) int {
	status, text := opstest.Get(c.T, c.URL+path)
	if v != nil {
		require.NoError(c, json.Unmarshal([]byte(text), v), "%s: %s", path, text)
	}
	return status
}

// settled asks until the answer is complete.
func settled[T any](c *client, path string, reading func(*T) bool) (out T) {
	for deadline := time.Now().Add(2 * time.Minute); ; {
		out = *new(T)
		require.Equal(c, 200, c.get(path, &out), path)
		if !reading(&out) {
			return out
		}
		require.True(c, time.Now().Before(deadline))
	}
}

func (c *client) list(q string) list {
	return settled(c, "/api/games?q="+url.QueryEscape(q), func(l *list) bool { return l.Reading })
}

func (c *client) game(id string) details {
	return settled(c, "/api/game?id="+url.QueryEscape(id), func(d *details) bool { return d.Replay.Reading })
}

func (c *client) frames(id string, from, count int) (out chunk) {
	require.Equal(c, 200, c.get(fmt.Sprintf("/api/frames?id=%s&from=%d&count=%d", url.QueryEscape(id), from, count), &out))
	return out
}

func (c *client) refused(path string, status int) string {
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
	require.Equal(t, 31, c.game("blocking.jsonl:1").Replay.Frames)
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
	reply := envtest.Must(http.Head(c.URL + "/api/games"))
	require.Equal(t, 200, reply.StatusCode)
	require.Contains(t, reply.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.ErrorContains(t, envtest.Failed(NewLibrary([]string{filepath.Join(dir, "none")})), "no such file")
}

// What cannot be read is in the list and says why; the rest is not touched by it.
func TestMalformed(t *testing.T) {
	dir, history := t.TempDir(), historyTexts(t)
	text := strings.TrimSpace(string(envtest.Must(os.ReadFile("../games/blocking.jsonl"))))
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
	l := envtest.Must(NewLibrary([]string{dir}))
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
	s, rec := toy.Pick.New(2), record.New(toy.Pick, 0, []string{"a", "b"})
	s.Reset(0)
	rec.End(s)
	require.NoError(t, record.AppendTo(path, rec))
	c := serve(t, path)
	require.Equal(t, "toy:pick", c.list("").Games[0].Game)
	require.Equal(t, "card", c.frames("toy.jsonl:1", 0, 1).Frames[0].Boards[0].Name)
}

// all returns every frame of a game.
func (c *client) all(id string) (all []Frame) {
	d := c.game(id)
	require.Empty(c, d.Replay.Error)
	for from := 0; from < d.Replay.Frames; from += chunkSize {
		all = append(all, c.frames(id, from, chunkSize).Frames...)
	}
	return all
}

// writeBomb writes a compressed file of so many times the same text, and then an end.
func writeBomb(t *testing.T, path, text string, times int, end string) {
	file := append(bytes.Repeat(envtest.Gzip(text), times), envtest.Gzip(end)...)
	require.NoError(t, os.WriteFile(path, file, 0o600))
}

// Beside small files that hold gigabytes of blank lines or of long lines, the viewer lists and shows other games in
// time. The blank lines are refused with their place.
func TestViewerBesideBombs(t *testing.T) {
	dir := t.TempDir()
	copyFile(t, "testdata/blocking4.jsonl", dir+"/good.jsonl")
	game := envtest.Must(os.ReadFile(dir + "/good.jsonl"))
	long := string(bytes.TrimSpace(game)) + strings.Repeat(" ", 12<<20) + "\n"
	writeBomb(t, dir+"/a blank.jsonl.gz", strings.Repeat("\n", 1<<20), 3<<10, "")
	writeBomb(t, dir+"/long.jsonl.gz", long, 256, "")
	c := serve(t, dir)
	began := time.Now()
	seen := map[string]string{}
	for len(seen) < 2 || seen["a blank.jsonl.gz:1"] == "" {
		require.Less(t, time.Since(began), 5*time.Minute)
		asked := time.Now()
		var out list
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
	game := envtest.Must(os.ReadFile("testdata/blocking4.jsonl"))
	line := string(bytes.TrimSpace(game)) + strings.Repeat(" ", 12<<20) + "\n"
	writeBomb(t, dir+"/deep.jsonl.gz", line, 1<<10, string(game))
	l := envtest.Must(NewLibrary([]string{dir}))
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

// A history folder grows by states and moves; who watches sees after each step whether it goes on, and why not.
func TestHistories(t *testing.T) {
	type files map[string]string // by name; without a text it is removed
	state3 := historyTexts(t)["state3"]
	changed := func(old, other string) string {
		require.Contains(t, state3, old)
		return strings.Replace(state3, old, other, 1)
	}
	failed := changed("playing", "failed")
	for name, steps := range map[string][]struct {
		states      int // so many are written, and then the files
		files       files
		age         time.Duration // of the folder, before the test; 0 as it is
		live        bool
		turn        int // of the last frame
		over, fault string
	}{
		"it grows": {
			{states: 1, live: true}, {states: 40, live: true, turn: 39},
			{states: 1 << 30, turn: 127, over: "The board is full · 27 points"},
		},
		"the time is up in a turn": {{states: 4, files: files{"state3": failed}, turn: 3, over: "Time is up · 0 points"}},
		"the time is up after it":  {{states: 4, files: files{"state4": failed}, turn: 3, over: "Time is up · 0 points"}},
		"points from nowhere": {{
			states: 4, files: files{"state3": changed(`"score": 0`, `"score": 5`)}, turn: 2,
			fault: "/state3: by the rules, no commands lead there",
		}},
		"a move is half written, and stays so": {
			{states: 3, files: files{"move2": `["le`}, live: true, turn: 2},
			{states: 3, files: files{"move2": `["le`}, age: time.Minute, turn: 2, fault: "/move2: unexpected end"},
		},
		"a move is missing": {{states: 4, files: files{"move2": ""}, live: true, turn: 3}},
		// Meta says that a limit of turns has ended the game, at the same time by the file system's clock.
		"it is stopped": {
			{states: 4, files: files{"meta": `{"program":"./bot","turns":0}`}, age: -time.Hour, live: true, turn: 3},
			{files: files{"meta": `{"program":"./bot","turns":3,"reason":"turns"}`}, age: -time.Hour, turn: 3, over: "Stopped here"},
		},
	} {
		dir, began := filepath.Join(t.TempDir(), "0_1360540800"), time.Now()
		require.NoError(t, os.Mkdir(dir, 0o755))
		c := serve(t, dir)
		for _, s := range steps {
			write(t, dir, s.states)
			for file, text := range s.files {
				_ = os.Remove(filepath.Join(dir, file))
				if text != "" {
					require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
				}
			}
			if at := began.Add(-s.age); s.age != 0 {
				require.NoError(t, os.Chtimes(dir, at, at))
			}
			g := c.list("").Games[0]
			d := c.game(g.ID)
			end := c.frames(g.ID, d.Replay.Frames-1, 1).Frames[0]
			require.Equal(t, s.turn, end.Turn, name)
			require.Equal(t, s.fault == "", d.Replay.Error == "", name)
			require.Contains(t, d.Replay.Error, s.fault, name)
			require.Contains(t, end.Over, s.over, name)
			require.Equal(t, s.over != "", end.Red, name)
			if s.fault == "" {
				require.Equal(t, []bool{s.live, s.live}, []bool{g.Live, d.Replay.Live}, name)
			}
			require.Equal(t, int64(1360540800000), g.Time)
		}
	}
	require.Zero(t, startOf("h"), "no name of a history")
}

// A game of Dropblox, as a history or a record, is shown as the commands that lead to its resting places, illegal ones
// passed over. The last frame of a turn has the ghost where the next position has the squares, unless rows vanish.
func TestDropbloxFrames(t *testing.T) {
	dir, _ := samples(t)
	c := serve(t, dir)
	loose := regexp.MustCompile("[^x]")
	settled := func(f Frame) string { return loose.ReplaceAllString(f.Boards[0].Cells, ".") }
	var all []Frame
	for _, id := range []string{"history/0_1360540800", "dropblox.jsonl:1"} {
		turns := 0
		all = c.all(id)
		for n, f := range all {
			require.Len(t, f.Boards[0].Cells, 12*24)
			require.Len(t, f.Trays[0].Pieces, 5)
			require.Equal(t, fmt.Sprintf("Turn %d", f.Turn), f.Label)
			if n == 0 {
				continue
			}
			before := all[n-1]
			if f.Turn == before.Turn {
				require.Equal(t, before.Made+1, f.Made)
				require.Equal(t, settled(before), settled(f))
				continue
			}
			require.Equal(t, before.Of, before.Made, "all commands of turn %d were seen", before.Turn)
			require.Equal(t, before.Turn+1, f.Turn)
			if f.Seats[0].Score != before.Seats[0].Score {
				continue
			}
			turns++
			for k, cell := range before.Boards[0].Cells {
				if strings.ContainsRune("xabcdefghij", cell) {
					require.Contains(t, "xABCDEFGHIJ", string(f.Boards[0].Cells[k]), "frame %d, cell %d", n, k)
				}
			}
		}
		require.Greater(t, turns, 10)
	}
	total := len(c.game("history/0_1360540800").Replay.Starts)
	for name, text := range historyTexts(t) {
		var moves []string
		if strings.HasPrefix(name, "move") && json.Unmarshal([]byte(text), &moves) == nil {
			total += len(moves)
		}
	}
	require.Len(t, c.all("history/0_1360540800"), total)
	rec, end := firstOf("../games/dropblox.jsonl"), all[len(all)-1]
	require.Equal(t, len(rec.Choices), end.Turn)
	require.True(t, end.Red)
	require.Equal(t, "The board is full · "+points(rec.Scores[0]), end.Over)
	starts := c.game("dropblox.jsonl:1").Replay.Starts
	require.Len(t, starts, len(rec.Choices)+1)
	require.Equal(t, 7, all[starts[7]].Turn)
}

// Records are listed as they are appended; a long game in parts is followed.
func TestRecordsGrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	text := envtest.Must(os.ReadFile("../games/tetrisduel.jsonl"))
	rec := firstOf("../games/tetrisduel.jsonl")
	add := func(text string) {
		f := envtest.Must(os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644))
		envtest.Must(f.WriteString(text))
		require.NoError(t, f.Close())
	}
	add(string(text) + string(text[:200]))
	c := serve(t, path)
	require.Len(t, c.list("").Games, 1, "the second is not whole")
	add(string(text[200:]))
	require.Len(t, c.list("").Games, 2)
	require.Equal(t, len(rec.Choices)+1, c.game("run.jsonl:2").Replay.Frames)

	part := func(n, from, to int) string {
		p := record.Record{Part: n, Choices: rec.Choices[from:to], More: to < len(rec.Choices)}
		if n == 0 {
			p.Game, p.Rules, p.Seed, p.Seats, p.Agents = rec.Game, rec.Rules, rec.Seed, rec.Seats, rec.Agents
		}
		if !p.More {
			p.Scores, p.Results = rec.Scores, rec.Results
		}
		return string(envtest.Must(json.Marshal(p))) + "\n"
	}
	add(part(0, 0, 100))
	games := c.list("").Games
	require.Len(t, games, 3)
	require.Equal(t, "run.jsonl:3", games[0].ID, "a game being played comes first")
	require.True(t, games[0].Live)
	d := c.game("run.jsonl:3")
	require.Equal(t, 101, d.Replay.Frames)
	require.True(t, d.Replay.Live)
	add(part(1, 100, 300))
	require.Equal(t, 301, c.game("run.jsonl:3").Replay.Frames)
	add(part(2, 300, len(rec.Choices)))
	require.Equal(t, rec.Scores, c.list("").Games[2].Scores)
	d = c.game("run.jsonl:3")
	require.Equal(t, len(rec.Choices)+1, d.Replay.Frames)
	require.False(t, d.Replay.Live)
	require.Empty(t, d.Replay.Error)

	// Another file in its place is another list, and what was open is not shown any more.
	gen := c.game("run.jsonl:1").Gen
	copyFile(t, "../games/blocking.jsonl", path)
	require.Len(t, c.list("").Games, 1)
	d = c.game("run.jsonl:1")
	require.NotEqual(t, gen, d.Gen)
	require.Equal(t, 31, d.Replay.Frames)
	require.NoError(t, os.Remove(path))
	require.Empty(t, c.list("").Games)
}

// Any bytes as a state or as a move file are shown or complained of.
func FuzzHistory(f *testing.F) {
	f.Add(`{"state":"playing"}`, `["left"]`)
	f.Add(``, `null`)
	f.Fuzz(func(t *testing.T, state, moves string) {
		at := folder{t.TempDir(), "p"}
		for name, text := range map[string]string{"state0": state, "move0": moves, "state1": state} {
			require.NoError(t, os.WriteFile(filepath.Join(at.path, name), []byte(text), 0o644))
		}
		r, err := (&entry{history: &at, Players: []string{"a"}}).replay(t.Context())
		if err != nil {
			return
		}
		c := r.(*commands)
		c.advance(time.Now().Add(time.Second))
		for n := range min(c.info().Frames, 50) {
			c.frame(n)
		}
	})
}

// start begins a game of a single board per seat.
func start(game string, seats int) (*env.Game, env.State) {
	g := envtest.Must(games.Lookup(game))
	s := envtest.Start[env.State](g, seats, 7)
	return g, s
}

// In Blocking nothing moves, so every seat's last piece is where it was placed, until its next one.
func TestLastMovesStay(t *testing.T) {
	g, s := start("blocking", 4)
	var l LastMoves
	var p Painter
	rng := rand.New(rand.NewPCG(1, 2))
	var want [4][]int
	for turn := 0; s.Acting() != 0; turn++ {
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			seat := set.First()
			marks := p.Marks(g, s, seat)
			mark := marks[rng.IntN(len(marks))]
			m[seat], want[seat] = mark.Action, mark.Cells
		}
		l.Play(g, s, m)
		s.Step(m)
		l.Follow(s)
		for seat, mark := range l.Marks() {
			require.ElementsMatch(t, want[seat], mark.Cells, "turn %d, seat %d", turn, seat)
		}
	}
	require.NotEmpty(t, want[3])
}

// In WinTetris full rows disappear, and what is above them falls: the cells that are left of a piece fall with it.
func TestLastMovesFall(t *testing.T) {
	g, s := start("wintetris", 1)
	var l LastMoves
	var p Painter
	lying := func() string { return strings.ReplaceAll(strings.Join(l.filled(s)[0], ""), "?", ".") } // without what falls
	fell := 0
	for turn := 0; turn < 300 && s.Acting() != 0; turn++ {
		low := slices.MaxFunc(p.Marks(g, s, 0), func(a, b Mark) int { return slices.Max(a.Cells) - slices.Max(b.Cells) })
		board := []byte(lying())
		for _, k := range low.Cells {
			board[k] = 'p'
		}
		left := ""
		for row := range slices.Chunk(board, len(l.filled(s)[0][0])) {
			if bytes.ContainsRune(row, '.') {
				left += string(row)
			}
		}
		after := strings.Repeat(".", len(board)-len(left)) + left
		var want []int
		for k := range after {
			if after[k] == 'p' {
				want = append(want, k)
			}
		}
		m := env.Alone(0, low.Action)
		l.Play(g, s, m)
		s.Step(m)
		l.Follow(s)
		if lying() != strings.ReplaceAll(after, "p", "x") {
			continue // the piece fell before it had reached the column, or the game is over
		}
		for range 2 {
			require.ElementsMatch(t, want, l.Marks()[0].Cells, "turn %d", turn)
			l.Follow(s) // again
		}
		if len(left) < len(board) && len(want) > 0 {
			fell++
		}
	}
	require.Positive(t, fell, "no piece was left in part")
}

// palette returns both themes as variables of a style sheet: --surface, --ink1 to --ink15, --seat0 and so on.
func palette() string {
	return fmt.Sprintf(":root { %s}\n@media (prefers-color-scheme: dark) { :root { %s} }\n", css(&paint.Light), css(&paint.Dark))
}

func css(t *paint.Theme) string {
	out := fmt.Sprintf("--surface: %s; --text: %s; --muted: %s; --line: %s; --well: %s; --shade: %s; --cell: %s; ",
		t.Surface, t.Text, t.Muted, t.Line, t.Well, t.Shade, t.Ink[0])
	for k, colour := range t.Ink[1:] {
		out += fmt.Sprintf("--ink%d: %s; ", k+1, colour)
	}
	for k, colour := range t.Seat {
		out += fmt.Sprintf("--seat%d: %s; ", k, colour)
	}
	return out
}

// The style sheet has the colours of env/paint, between its first comment and its second one. With BLOCKYARD_UPDATE=1
// they are written there.
func TestPalette(t *testing.T) {
	const path = "page/style.css"
	text := envtest.Must(os.ReadFile(path))
	first, _, ok := strings.Cut(string(text), "*/\n")
	require.True(t, ok)
	_, after, ok := strings.Cut(string(text), "/* and those of the page */\n")
	require.True(t, ok)
	want := first + "*/\n" + palette() + "/* and those of the page */\n" + after
	if envtest.Updating() {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "BLOCKYARD_UPDATE=1 writes the palette again")
}
