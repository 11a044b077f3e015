package tournament

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

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
