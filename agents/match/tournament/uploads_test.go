package tournament

import (
	"archive/zip"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// A port is a league whose page takes uploads.
type port struct {
	*testing.T
	*Uploads
	address string
	origin  string            // of the requests, if set
	tokens  map[string]string // of the authors
}

func openPort(t *testing.T, authors ...string) *port {
	p := &port{T: t, tokens: map[string]string{}}
	l := opened(t, t.TempDir())
	l.Uploads = true
	for _, name := range authors {
		p.tokens[name] = envtest.Must(AddAuthor(l.Dir, name))
	}
	p.Uploads = &Uploads{League: l, Size: 1 << 10, Bots: 2, Hourly: 12, Time: time.Minute}
	listener := envtest.Must(net.Listen("tcp", "127.0.0.1:0"))
	p.address = "http://" + listener.Addr().String()
	server := web.NewServer(p.Handler(), web.Limits{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return p
}

// ask sends a request of an author, such as "GET /me", and returns the status and the text of the answer.
func (p *port) ask(author, request string, body io.Reader) (int, string) {
	method, path, _ := strings.Cut(request, " ")
	q := envtest.Must(http.NewRequest(method, p.address+path, body))
	if author != "" {
		q.Header.Set("Authorization", "Bearer "+p.tokens[author])
	}
	if p.origin != "" {
		q.Header.Set("Origin", p.origin)
	}
	r := envtest.Must(http.DefaultClient.Do(q))
	defer r.Body.Close()
	return r.StatusCode, string(envtest.Must(io.ReadAll(r.Body)))
}

// want is ask for an answer with a status.
func (p *port) want(status int, author, request, body string) string {
	got, text := p.ask(author, request, strings.NewReader(body))
	require.Equal(p, status, got, "%s of %q: %s", request, author, text)
	return text
}

// files lists the submissions, with what is hidden.
func (p *port) files() (names []string) {
	for _, f := range envtest.Must(os.ReadDir(filepath.Join(p.League.Dir, SubmissionsDir))) {
		names = append(names, f.Name())
	}
	return names
}

func (p *port) bots(author string) (all []version) {
	var me struct{ Bots []version }
	require.NoError(p, json.Unmarshal([]byte(p.want(200, author, "GET /me", "")), &me))
	return me.Bots
}

// TestUploads: what an author uploads takes part, and the author, and nobody else, sees what became of it. Another file of
// that name, of whatever kind, replaces it.
func TestUploads(t *testing.T) {
	p := openPort(t, "ann", "bob")
	l := p.League
	before(l, func(e *Entrant) {
		if e.Of == "ann-bad" {
			e.refuse("does not compile", "line 1: <b>")
		}
	})
	p.want(200, "ann", "PUT /bots/Bot.java", "class Bot {}")
	p.want(200, "ann", "PUT /bots/bad.zip", "no archive")
	require.Equal(t, []string{"ann-Bot.zip", "ann-bad.zip"}, p.files())
	z := envtest.Must(zip.OpenReader(filepath.Join(l.Dir, SubmissionsDir, "ann-Bot.zip")))
	require.Equal(t, "Bot.java", z.File[0].Name, "its name matters to its language")
	require.NoError(t, z.Close())
	look(t, l, 2)
	require.Equal(t, []string{"ann-Bot"}, here(l))
	all := p.bots("ann")
	require.Equal(t, []string{"ann-bad", "is refused", "line 1: <b>"}, []string{all[0].Bot, all[0].State, all[0].Output})
	require.Contains(t, all[0].Refused, "does not compile")
	require.Equal(t, []string{"ann-Bot", "plays"}, []string{all[1].Bot, all[1].State})
	require.Empty(t, p.bots("bob"))

	p.want(200, "ann", "PUT /bots/Bot.tar.gz", "an archive")
	look(t, l, 2)
	require.Equal(t, []string{"ann-Bot.tar.gz", "ann-bad.zip"}, p.files())
	require.Equal(t, []string{"ann-Bot v2"}, here(l))
	p.want(404, "bob", "DELETE /bots/ann-Bot", "")
	p.want(200, "ann", "DELETE /bots/ann-Bot", "")
	look(t, l, 1)
	require.Empty(t, here(l))
	require.Equal(t, "is not there any more", p.bots("ann")[0].State)
}

// TestUploadsAreRefused: names that lead elsewhere or are HTML, requests without a token or from another site, too many,
// too large, empty and cut bodies leave nothing behind, and their authors are told why.
func TestUploadsAreRefused(t *testing.T) {
	p := openPort(t, "ann", "bob", "cat", "dan")
	for _, name := range []string{"..%2Fx.zip", "a%2Fb.zip", "..%5Cx.zip", ".zip", "%2E%2E", "x.zip%00.py", "%3Cimg%20src=x%3E.zip", "a%0Ab.zip",
		"x.exe", "README.md", "x", strings.Repeat("x", 64) + ".zip", "%C3%A4.zip", "a:b.zip", "~.zip"} {
		text := p.want(400, "ann", "PUT /bots/"+name, "text")
		require.Contains(t, text, "want an archive (such as bot.zip) or a source file", name)
	}
	p.tokens["none"], p.tokens["hash"] = "AAAAAAAAAAAAAAAAAAAAAAAAAA", ""
	for _, who := range []string{"", "none", "hash"} {
		for _, request := range []string{"PUT /bots/bot.zip", "DELETE /bots/ann-bot", "GET /me", "GET /logs/0001.log"} {
			require.Contains(t, p.want(401, who, request, "text"), "no author has this token")
		}
	}
	for _, p.origin = range []string{"http://evil.example", "null"} {
		p.want(403, "ann", "PUT /bots/bot.zip", "text")
	}
	p.origin = ""
	p.want(404, "ann", "POST /bots/bot.zip", "text")
	p.want(413, "ann", "PUT /bots/bot.zip", strings.Repeat("x", 1<<10+1))
	p.want(413, "ann", "PUT /bots/bot.py", strings.Repeat("x", 1<<10+1))
	p.want(400, "ann", "PUT /bots/bot.zip", "")
	raw := envtest.Must(net.Dial("tcp", strings.TrimPrefix(p.address, "http://")))
	fmt.Fprintf(raw, "PUT /bots/bot.zip HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 9\r\n\r\nhalf", p.tokens["ann"])
	require.NoError(t, raw.(*net.TCPConn).CloseWrite())
	require.Contains(t, string(envtest.Must(io.ReadAll(raw))), "has not arrived whole")
	require.Empty(t, p.files())

	for _, name := range []string{"one.zip", "two.zip", "two.py"} {
		p.want(200, "bob", "PUT /bots/"+name, name)
	}
	p.want(403, "bob", "PUT /bots/three.zip", "text") // a bot too many
	p.want(200, "cat", "PUT /bots/three.zip", "text") // of another author
	require.ElementsMatch(t, []string{"bob-one.zip", "bob-two.zip", "cat-three.zip"}, p.files())
	for range 12 {
		p.want(200, "dan", "PUT /bots/bot.zip", "text")
	}
	require.Contains(t, p.want(429, "dan", "PUT /bots/bot.zip", "text"), "12 uploads per hour: wait ")

	require.NoError(t, RemoveAuthor(p.League.Dir, "bob"))
	p.want(401, "bob", "PUT /bots/one.zip", "text") // at once
	subs := filepath.Join(p.League.Dir, SubmissionsDir)
	require.NoError(t, os.Rename(subs, subs+".away"))
	told := make(chan string, 1)
	p.League.Tell = func(format string, a ...any) { told <- fmt.Sprintf(format, a...) }
	require.NotContains(t, p.want(507, "cat", "PUT /bots/three.zip", "text"), p.League.Dir)
	close(told)
	require.Contains(t, <-told, subs, "the organiser is told")
}

// TestSlowUploads: one that is slow keeps nobody from uploading but its author, and ends after a while.
func TestSlowUploads(t *testing.T) {
	p := openPort(t, "ann", "bob")
	begin := func() (in *io.PipeWriter, status chan int) {
		out, in := io.Pipe()
		status = make(chan int, 1)
		go func() {
			s, _ := p.ask("ann", "PUT /bots/slow.zip", out)
			status <- s
		}()
		envtest.Must(in.Write([]byte("half")))
		require.Eventually(t, func() bool {
			p.Uploads.mu.Lock()
			defer p.Uploads.mu.Unlock()
			return p.busy["ann"] || len(status) > 0
		}, time.Minute, time.Millisecond)
		return in, status
	}
	in, status := begin()
	p.want(429, "ann", "PUT /bots/other.zip", "text")
	p.want(200, "bob", "PUT /bots/bot.zip", "text")
	require.NoError(t, in.Close())
	require.Equal(t, 200, <-status)
	p.Time = 50 * time.Millisecond
	_, status = begin()
	require.Equal(t, 400, <-status)
	require.ElementsMatch(t, []string{"ann-slow.zip", "bob-bot.zip"}, p.files())
}

// TestLogsAreForTheirAuthors: an author sees the lines of own bots and the record, of no other game, and nobody else sees a
// log. The page links none.
func TestLogsAreForTheirAuthors(t *testing.T) {
	p := openPort(t, "ann", "bob", "cat")
	l := p.League
	p.want(200, "ann", "PUT /bots/one.zip", "1")
	p.want(200, "bob", "PUT /bots/two.zip", "2")
	look(t, l, 2)
	playTo(t, l, 2)
	seat := l.Played[0].Seats[0]
	names := map[bool]string{true: l.Entrants[0].Name, false: l.Entrants[1].Name}
	first, second := match.Letter(seat), match.Letter(1-seat)
	long := strings.Repeat("x", 1<<16) + "\n"
	own := map[string]string{names[seat == 0]: first + " ! mine " + long + first + " > drop\n", names[seat != 0]: second + " ! secret\n"}
	record := "record {}\n"
	put(t, filepath.Join(l.Dir, LogFile(0)), "note\n"+own["ann-one"]+own["bob-two"]+"secret\n"+record)
	for author, want := range map[string]string{"ann": own["ann-one"] + record, "bob": own["bob-two"] + record} {
		require.Equal(t, want, p.want(200, author, "GET /logs/0001.log", ""))
	}
	for path, want := range map[string]int{"0001.log": 403, "0003.log": 404, "0.log": 404, "x": 404, "-1.log": 404, "..%2Fauthors.json": 404} {
		p.want(want, "cat", "GET /logs/"+path, "")
	}
	page := p.want(200, "", "GET /", "")
	require.NotContains(t, page, `href="logs/`)
	require.Contains(t, page, `id="author"`)
	p.want(404, "ann", "GET /authors.json", "")

	require.NoError(t, os.Remove(filepath.Join(l.Dir, AuthorsFile)))
	require.NoError(t, l.WritePage(l.Dir))
	page = p.want(200, "", "GET /", "")
	require.Contains(t, page, `href="logs/`, "a league without authors has no secrets")
	require.NotContains(t, page, `id="author"`)
	p.want(200, "", "GET /logs/0001.log", "")
}

// TestAuthors: a token is kept as its hash, in a file for the owner alone, and a name is in use once.
func TestAuthors(t *testing.T) {
	dir := t.TempDir()
	token := envtest.Must(AddAuthor(dir, "ann"))
	require.GreaterOrEqual(t, len(token), 26, "128 bits in base 32")
	path := filepath.Join(dir, AuthorsFile)
	require.NotContains(t, string(envtest.Must(os.ReadFile(path))), token)
	require.Equal(t, os.FileMode(0o600), envtest.Must(os.Stat(path)).Mode().Perm())
	all := envtest.Must(readAuthors(dir))
	require.Equal(t, "ann", all.named(token))
	require.Empty(t, all.named(all["ann"]), "the hash is no token")
	require.ErrorContains(t, envtest.Failed(AddAuthor(dir, "ann")), "ann is an author: remove it first for a new token")
	for _, name := range []string{"", "a-b", "Ann", "../x", strings.Repeat("a", 33), "<b>"} {
		require.ErrorContains(t, envtest.Failed(AddAuthor(dir, name)), "want 1 to 32 of a-z, 0-9 and _")
	}
	require.ErrorContains(t, RemoveAuthor(dir, "bob"), `author "bob" is none of `+dir+": ann")
	require.NoError(t, RemoveAuthor(dir, "ann"))
	all = envtest.Must(readAuthors(dir))
	require.Empty(t, all)
	require.ErrorContains(t, envtest.Failed(AddAuthor(filepath.Join(dir, "none"), "ann")), "want the folder of a league")
}

// TestHandlerSharesNoSources: the page and what it links to, and nothing else.
func TestHandlerSharesNoSources(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"index.html", "logs/0001.log", "games/0001.jsonl.gz", "replays/0001.html", "build/a/bot.py",
		"tournament.json", "journal.jsonl", "authors.json", "feed.json", "feed.atom"} {
		put(t, filepath.Join(dir, name), "text")
	}
	server := httptest.NewServer(Handler(dir))
	defer server.Close()
	for url, want := range map[string]int{
		"/": 200, "/logs/0001.log": 200, "/games/0001.jsonl.gz": 200, "/replays/0001.html": 200,
		"/build/a/bot.py": 404, "/tournament.json": 404, "/journal.jsonl": 404, "/logs/../build/a/bot.py": 404,
		"/logs/%2e%2e/build/a/bot.py": 404, "/logs": 404, "/authors.json": 404, "/feed.json": 200, "/feed.atom": 200,
	} {
		r := envtest.Must(http.Get(server.URL + url))
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
		ask := envtest.Must(http.NewRequest(http.MethodGet, server.URL+"/"+map[string]string{jsonFeed: jsonFeed}[file], nil))
		again := func() int {
			r := envtest.Must(http.DefaultClient.Do(ask))
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

// played is a league of five entrants with games between them, of whom two are versions of one, and the third, with a
// name that is HTML, is refused.
func played(t *testing.T) *League {
	l := openLeague(t, t.TempDir())
	names := []string{"bot", "bot v2", "<img src=x>", strings.Repeat("longname", 9), "d"}
	for k, name := range names {
		l.Entrants = append(l.Entrants, &Entrant{Name: name, Agent: name, Of: name, Fingerprint: fmt.Sprint(k)})
	}
	l.Entrants[1].Of = "bot"
	l.Entrants[2].Refused = "<script>alert(1)</script>" + strings.Repeat("longname", 30)
	require.NoError(t, l.Journal.enter(l.Entrants))
	l.next = func() []match.Played {
		if len(l.Played) == 24 {
			return nil
		}
		pairs := [][]int{{0, 1}, {0, 3}, {0, 4}, {1, 3}, {1, 4}, {3, 4}}
		return []match.Played{l.nextOf(l.Played, stageLeague, pairs[len(l.Played)%len(pairs)])}
	}
	require.NoError(t, l.Tournament.Play(t.Context()))
	return l
}

// TestInfluences: the largest changes are those of ratings that are computed afresh, without the games of one.
func TestInfluences(t *testing.T) {
	l := played(t)
	r := l.Report()
	all := influences(r)
	require.Len(t, all, 4)
	afresh := func(out string) map[string]float64 { // relative to the mean of all but one
		in := which(l.Entrants, func(_ int, e *Entrant) bool { return e.Name != out && e.Refused == "" })
		games := slices.DeleteFunc(slices.Clone(l.Played), func(g match.Played) bool {
			return !slices.Contains(in, g.Seats[0]) || !slices.Contains(in, g.Seats[1])
		})
		report := l.table(in, l.Entrants, games)
		report.Rate()
		elo := map[string]float64{}
		for _, s := range report.Players {
			elo[s.Name] = s.Elo.Value
		}
		return elo
	}
	before, largest := afresh(""), 0.
	for _, i := range all {
		name, fall, rise := i.Name, 0., 0.
		for out := range before {
			if out == name {
				continue
			}
			change := afresh(out)[name] - before[name] - before[out]/float64(len(before)-1)
			fall, rise = min(fall, change), max(rise, change)
		}
		require.InDelta(t, fall, i.Fall.Elo, 0.01, name)
		require.InDelta(t, rise, i.Rise.Elo, 0.01, name)
		largest = max(largest, -fall, rise)
	}
	require.Greater(t, largest, 1.)
	r.Players = r.Players[:2]
	require.Empty(t, influences(r), "of two")
}

// TestFeeds: both are what their formats say, with the standings and what became of each version; names are text.
func TestFeeds(t *testing.T) {
	l := played(t)
	var asJSON struct {
		Version string
		Items   []struct{ Title string }
		Table   []standing `json:"_standings"`
	}
	require.NoError(t, json.Unmarshal(envtest.Must(os.ReadFile(filepath.Join(l.Dir, jsonFeed))), &asJSON))
	require.Equal(t, "https://jsonfeed.org/version/1.1", asJSON.Version)
	require.Len(t, asJSON.Table, 4)
	require.Equal(t, "Standings after 24 games", asJSON.Items[0].Title)
	require.Len(t, asJSON.Items, 6)
	text := envtest.Must(os.ReadFile(filepath.Join(l.Dir, atomFeed)))
	require.NotContains(t, string(text), "<img")
	require.Regexp(t, `<id>[^<]+</id><title>[^<]+</title><updated>[^<]+</updated><author><name>[^<]`, string(text))
	var asXML struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		Entries []struct {
			ID      string    `xml:"id"`
			Title   string    `xml:"title"`
			Updated time.Time `xml:"updated"`
		} `xml:"entry"`
	}
	require.NoError(t, xml.Unmarshal(text, &asXML))
	ids := map[string]bool{}
	for k, e := range asXML.Entries {
		require.Equal(t, asJSON.Items[k].Title, e.Title)
		ids[e.ID] = true
	}
	require.Len(t, ids, 6)
	require.Equal(t, "<img src=x> is refused", asXML.Entries[3].Title)
}

// TestTheLeagueOnAPhoneAndADesk: nothing is wider than the page, a curve has a point for every version, an author sees own
// bots, and names are text.
func TestTheLeagueOnAPhoneAndADesk(t *testing.T) {
	l := played(t)
	token := envtest.Must(AddAuthor(l.Dir, "ann"))
	l.known = []*Entrant{{Name: "ann-bot", From: SubmissionsDir + "/ann-bot.zip", Refused: "does not compile: " + strings.Repeat("longname", 40),
		Output: "<b>error</b> " + strings.Repeat("x", 300)}, {Name: "ann-other", From: SubmissionsDir + "/ann-other.zip"}}
	l.here = map[string]sight{SubmissionsDir + "/ann-bot.zip": {}, SubmissionsDir + "/ann-other.zip": {}}
	l.Entrants[0].From = SubmissionsDir + "/ann-bot.zip"
	l.Uploads, l.Stopped = true, false
	require.NoError(t, l.WritePage(l.Dir))
	uploads := &Uploads{League: l, Size: 1 << 20, Bots: 3, Hourly: 12}
	enter := func(b *webtest.Tab, token string) {
		b.Text(`(token.value = "` + token + `", document.querySelector("#enter button").click())`)
	}
	b := webtest.Open(t, uploads.Handler())
	b.Visit("")
	b.Await("!author.hidden")
	enter(b, "wrong")
	b.Await("said.className === 'bad' && mine.hidden && !enter.hidden")

	b = webtest.Open(t, uploads.Handler())
	fits(t, b, "league-token", "!author.hidden")
	enter(b, token)
	fits(t, b, "league", "!mine.hidden && bots.children.length === 2")
	require.Equal(t, "2 4 0", b.Text(`[".curve circle", "main > div .without tbody tr", "img, main script, #bots pre b"]
		.map((of) => document.querySelectorAll(of).length).join(" ")`))
	require.NoError(t, os.WriteFile(filepath.Join(l.Dir, PageFile), []byte(strings.Replace(pageOf(l.Dir), ">live<", ">later<", 1)), 0o600))
	b.Await("document.querySelector('.chip').textContent === 'later'")
	require.Equal(t, "false", b.Text("mine.hidden"), "it has not loaded again")
	b.Clean()
}

// fits visits a page on a phone, and in the dark on a desk, until it is ready, and requires that nothing is wider.
func fits(t *testing.T, b *webtest.Tab, name, ready string) {
	for _, width := range []int64{390, 1280} {
		b.Size(width, 844, 2, width > 400)
		b.Visit("")
		b.Await(ready)
		t.Logf("at %d px, the page is there after %s ms", width, b.Text("performance.now()"))
		b.Text("document.querySelectorAll('details').forEach((d) => d.open = true)")
		require.Equal(t, "true", b.Text("document.documentElement.scrollWidth <= innerWidth"), width)
		b.Shot(fmt.Sprintf("%s-%d", name, width))
	}
}

func pageOf(dir string) string {
	return string(envtest.Must(os.ReadFile(filepath.Join(dir, PageFile))))
}

// large is a league of 200 entrants, of whom every tenth has three versions, with 50,000 games.
func large() *Tournament {
	rng := rand.New(rand.NewPCG(7, 7))
	t := &Tournament{Config: Config{Rules: blocking.Game, Format: Ongoing, Seats: 2, Games: 2, Seed: 1}, Uploads: true}
	const entrants, games = 200, 50_000
	for k := range entrants {
		name := fmt.Sprintf("entrant %d", k)
		t.Entrants = append(t.Entrants, &Entrant{Name: name, Of: fmt.Sprintf("entrant %d", k-max(0, k%10-7)), Language: "Python",
			From: place(name)})
	}
	for n := range games {
		a := rng.IntN(entrants)
		b := (a + 1 + rng.IntN(40)) % entrants
		g := match.Played{Number: n, Unit: n &^ 1, Stage: stageLeague, Seats: []int{a, b}, Seed: fmt.Sprint(n / 2), Points: []int{10, 20},
			Ranks: []int{1, 2}, Reason: "blocked", Faults: []string{"", ""}, UsedMS: []float64{10, 20}, MostMS: []float64{1, 2},
			Times: make([]match.Times, 2), Names: []string{"player1", "player2"}}
		if rng.Float64() < match.Expected(float64(a-b)) {
			g.Ranks = []int{2, 1}
		}
		t.Played = append(t.Played, g)
	}
	return t
}

// TestLargeLeague: the page of a large league is bounded. It has the crosstable of the best and the last games, opens on a
// phone, and an author finds old games there.
func TestLargeLeague(t *testing.T) {
	l := openLeague(t, t.TempDir())
	l.Tournament = large()
	l.Stopped = true
	require.NoError(t, l.WritePage(l.Dir))
	require.Less(t, len(pageOf(l.Dir)), 1<<20)
	b := webtest.Open(t, (&Uploads{League: l}).Handler())
	fits(t, b, "large", "true")
	require.Equal(t, "200 2500 1000", b.Text(`["board tbody tr", "cross .cell", "games tbody tr"].map((of) =>
		document.querySelectorAll("." + of).length).join(" ")`))
	b.Clean()
	v, newest := l.shown.Load(), len(l.Played)
	for l.Played[newest-1].Seats[0] != 0 {
		newest--
	}
	v.from[0] = SubmissionsDir + "/ann-bot.zip"
	require.True(t, v.own(newest-1, "ann"))
	require.Equal(t, newest, v.game(newest-1, "ann").Number)
}

// BenchmarkLargeLeague writes the page of a league of 200 entrants after 50,000 games, and says how large it is.
func BenchmarkLargeLeague(b *testing.B) {
	dir := b.TempDir()
	l := large()
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, l.WritePage(dir))
	}
	for _, name := range []string{PageFile, jsonFeed} {
		b.ReportMetric(float64(envtest.Must(os.Stat(filepath.Join(dir, name))).Size()), "bytes:"+name)
	}
}
