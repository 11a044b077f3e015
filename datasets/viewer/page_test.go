package viewer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/record"
	"blockyard/datasets/record/gamelog"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env/envtest"
	"blockyard/env/games"
)

// A tab is a page of the browser that shows a Server's page.
type tab struct{ *webtest.Tab }

// browse opens a browser on a server of its own that shows paths.
func browse(t *testing.T, paths ...string) *tab {
	return browseAt(t, NewServer(envtest.Must(NewLibrary(paths)), nil))
}

// browseAt opens a browser on a server.
func browseAt(t *testing.T, handler http.Handler) *tab { return &tab{webtest.Open(t, handler)} }

// on makes what fails fail t.
func (b *tab) on(t *testing.T) *tab {
	b.T = t
	return b
}

// counter waits until the page shows turn n of last, given without its thousands' commas.
func (b *tab) counter(text string) {
	b.Await("document.querySelector('#counter').textContent.replaceAll(',', '') === 'Turn " + text + "'")
}

// painted is true when the first board shows cells of several colours.
const painted = `(() => { const c = document.querySelector(".frame canvas"); if (!c || !c.width) return false;
	const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
	for (let k = 0; k < d.length; k += 4 * 37) seen.add(d[k] << 16 | d[k+1] << 8 | d[k+2]);
	return seen.size > 8; })()`

// TestPage drives the page in a browser, through every kind of game and every key.
func TestPage(t *testing.T) {
	dir, _ := samples(t)
	running := filepath.Join(dir, "history", "1_1360999999")
	write(t, running, 6)
	b := browse(t, dir)
	t.Run("list", func(t *testing.T) { b.on(t).list() })
	t.Run("games", func(t *testing.T) { b.on(t).games() })
	t.Run("keys", func(t *testing.T) { b.on(t).keys() })
	t.Run("links", func(t *testing.T) { b.on(t).links() })
	t.Run("commands", func(t *testing.T) { b.on(t).commands() })
	t.Run("live", func(t *testing.T) { b.on(t).live(running) })
	t.Run("errors", func(t *testing.T) { b.on(t).errors(dir) })
	t.Run("panel", func(t *testing.T) { b.on(t).panel() })
	t.Run("sizes", func(t *testing.T) {
		pages := []string{"#blockbattle.jsonl:1/40", "", "#tetrisduel.jsonl:1/200", "#blocking4.jsonl:1/22", "#history/0_1360540800/30"}
		b.on(t).sizes(pages, func(at string) {
			if at == pages[0] {
				b.Visit(at)
			}
			b.follow(at)
			b.Await(fmt.Sprintf("document.querySelector('#list').hidden ? document.querySelector('#counter').textContent.startsWith('Turn %s ') :"+
				" %q === '' && document.querySelectorAll('.row').length >= 6", path.Base(at), at))
		})
	})
	b.on(t).Clean()
}

func (b *tab) list() {
	b.Visit("")
	b.Await("document.querySelectorAll('.row').length >= 6")
	b.Await("document.querySelector('.row').innerText.includes('live')") // a game being played comes first
	b.Await("document.querySelector('#total').textContent > 5")
	b.Do(chromedp.SendKeys("#search", "blocking4"))
	b.Await("document.querySelectorAll('.row').length === 1")
	row := b.Text("document.querySelector('.row').innerText")
	require.Regexp(b, `(?s)Blocking.*hand.*\d+.*hand.*hand.*hand.*32 moves`, row)
	b.Do(chromedp.Click(".row"))
	b.counter("0 / 32")
	b.Await("location.hash === '#blocking4.jsonl:1/0'")
	b.Press(kb.Escape)
	b.Await("!document.querySelector('#list').hidden && location.hash === ''")
}

// follow goes to another place of the page, as a link does.
func (b *tab) follow(at string) { b.Text(fmt.Sprintf("location.hash = %q", at)) }

// games opens a game of every kind in the middle and at its end.
func (b *tab) games() {
	c := &client{b.T, b.Server}
	b.Visit("")
	for _, g := range c.list("").Games {
		turns := c.game(g.ID).Replay.Turns
		b.follow(fmt.Sprintf("#%s/%d", g.ID, turns/2))
		b.counter(fmt.Sprintf("%d / %d", turns/2, turns-1))
		b.Await(painted)
		b.Shot("mid-" + word(g.ID))
		b.Press(kb.End)
		b.counter(fmt.Sprintf("%d / %d", turns-1, turns-1))
		if !g.Live && !g.Stopped {
			b.Await("document.querySelector('.caption .end, .tint') !== null")
		}
		if !g.Live {
			b.scores(g.Scores)
		}
		b.Shot("end-" + word(g.ID))
	}
}

// scores requires that the page shows these, of each seat.
func (b *tab) scores(want []int) {
	for seat, score := range want {
		shown := b.Text(fmt.Sprintf("document.querySelectorAll('.seat .score')[%d].textContent", seat))
		require.Equal(b, fmt.Sprint(score), strings.ReplaceAll(shown, ",", ""))
	}
}

var odd = regexp.MustCompile(`[^a-z0-9]+`)

func word(id string) string { return odd.ReplaceAllString(id, "-") }

func (b *tab) keys() {
	b.Visit("#blockbattle.jsonl:1/0")
	b.counter("0 / 63")
	for _, step := range []struct{ key, counter string }{
		{kb.ArrowRight, "1 / 63"}, {kb.ArrowRight, "2 / 63"}, {kb.ArrowLeft, "1 / 63"},
		{kb.ArrowDown, "11 / 63"}, {kb.ArrowUp, "1 / 63"},
		{kb.End, "63 / 63"}, {kb.ArrowRight, "63 / 63"}, {kb.ArrowLeft, "62 / 63"},
		{kb.Home, "0 / 63"}, {kb.ArrowLeft, "0 / 63"},
	} {
		b.Press(step.key)
		b.counter(step.counter)
	}
	b.Press("-", "-", "-", "-", "-", "-", "-")
	b.Await("document.querySelector('#speed').value === '0.1'")
	b.Press(" ")
	b.Await("document.querySelector('#play').getAttribute('aria-label') === 'Pause'")
	b.Press("+", "+", "+", "+", "+", "+")
	b.Await("document.querySelector('#speed').value === '8'")
	b.counter("63 / 63")
	b.Await("document.querySelector('#play').getAttribute('aria-label') === 'Play'")
	b.Press("-", "-", "-", "-", "-", "-", "-")
	b.Await("document.querySelector('#speed').value === '0.1'")
	b.Press(" ")
	b.Await("Number(document.querySelector('#counter').textContent.split(' ')[1]) < 30") // from the beginning
	b.Press(" ")
	b.Press("?")
	b.Await("!document.querySelector('#keys').hidden")
	b.Press("?")
	b.Do(chromedp.Click("#next"), chromedp.Click("#last"), chromedp.Click("#back"))
	b.counter("62 / 63")
	b.Text("(() => { const s = document.querySelector('#slider'); s.value = 31; s.dispatchEvent(new Event('input')); })()")
	b.counter("31 / 63")
	b.Await("location.hash === '#blockbattle.jsonl:1/31'")
	require.Equal(b, "2", b.Text("document.querySelectorAll('.frame canvas').length"))
	require.Equal(b, "0", b.Text("[...document.querySelectorAll('button, input, select, canvas[role=img], a')]"+
		".filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels && e.labels.length))"+
		".length"), "everything has a name")
}

func (b *tab) links() {
	b.Visit("#tetrisduel.jsonl:1/300")
	b.Await("document.documentElement.dataset.game === 'tetrisduel'") // whose first seat is red and second is blue
	for seat, ink := range []string{"--ink15", "--ink2"} {
		const colour = "getComputedStyle(document.documentElement).getPropertyValue('%s').trim()"
		require.Equal(b, b.Text(fmt.Sprintf(colour, ink)), b.Text(fmt.Sprintf(colour, fmt.Sprint("--seat", seat))))
	}
	b.counter("300 / 560")
	b.follow("#blocking.jsonl:1/7")
	b.counter("7 / 30")
	b.Do(chromedp.NavigateBack())
	b.counter("300 / 560")
	b.Visit("#tetrisduel.jsonl:1/99999")
	b.counter("560 / 560")
	b.Visit("#tetrisduel.jsonl:1")
	b.counter("0 / 560")
	b.Visit("#%E0%A4%A/3")
	b.Await("!document.querySelector('#list').hidden")
}

// commands holds the label and the board of a Dropblox history against its files.
func (b *tab) commands() {
	b.Visit("#history/0_1360540800/0")
	b.Await(painted)
	b.Press(kb.ArrowRight, kb.ArrowRight)
	b.Await(`document.querySelector("#caption").textContent.startsWith("Turn 2, moves: [")`)
	b.Press(kb.ArrowLeft)
	b.Await(`document.querySelector("#caption").textContent.startsWith("Turn 1, moves: [")`)
	turns := b.Text("document.querySelector('#slider').max")
	require.Equal(b, "true", b.Text("document.querySelector('#counter').textContent.endsWith(' / ' + "+turns+")"))
	b.Press(".", ".") // commands of the turn do not move the slider
	b.Await("document.querySelectorAll('#caption .done').length === 1 && document.querySelector('#caption .now')")
	b.Await("location.hash === '#history/0_1360540800/1.2'")
	require.Equal(b, "1", b.Text("document.querySelector('#slider').value"))
	b.Press(kb.ArrowLeft)
	b.Await("location.hash === '#history/0_1360540800/1'")
	b.Text("(() => { const s = document.querySelector('#slider'); s.value = 9; s.dispatchEvent(new Event('input')); })()")
	b.Await(`document.querySelector("#caption").textContent.startsWith("Turn 9, moves: [")`)
	b.Visit("#history/0_1360540800/9.1")
	b.Await("document.querySelector('#caption .now') && document.querySelector('#counter').textContent.startsWith('Turn 9 ')")
	b.Press(kb.Home)
	var moves []string
	require.NoError(b, json.Unmarshal([]byte(historyTexts(b.T)["move0"]), &moves))
	want := "Turn 0, moves: [" + strings.Join(moves, ", ") + "]"
	b.Await(fmt.Sprintf("document.querySelector('#caption').textContent === %q", want))
	require.Equal(b, "5", b.Text("document.querySelectorAll('.beside .column canvas').length"), "five blocks to come")
	b.Press(kb.End)
	b.Await("document.querySelector('.tint').innerText.startsWith('The board is full\\n27 points')")
}

// live follows a game that grows while it is shown.
func (b *tab) live(dir string) {
	b.Visit("#history/1_1360999999/99999")
	last := "Number(document.querySelector('#counter').textContent.split('/')[1])"
	b.Await(last + " > 3 && document.querySelector('.chip.live')")
	b.Await("document.querySelector('#caption').textContent.startsWith('Turn 5')")
	before := b.Text(last)
	write(b.T, dir, 30)
	b.Await(last + " > " + before)
	b.Await("document.querySelector('#caption').textContent.startsWith('Turn 29')")
	b.Press(kb.Home) // whoever looks elsewhere is left there
	b.Await("document.querySelector('#counter').textContent.startsWith('Turn 0 ')")
	write(b.T, dir, 50)
	b.Await(last + " > 2 * " + before)
	require.Contains(b, b.Text("document.querySelector('#counter').textContent"), "0 / ")
	b.Press(kb.End)
	b.Await("document.querySelector('#caption').textContent.startsWith('Turn 49')")
	write(b.T, dir, 1<<30)
	b.Await("document.querySelector('.tint') && !document.querySelector('.chip.live')")
}

// panel opens the analysis, which says how to get an analyst.
func (b *tab) panel() {
	b.Visit("#blockbattle.jsonl:1/3")
	b.counter("3 / 63")
	b.Do(chromedp.Click("#analyse"))
	b.Await("document.querySelector('#analysis').innerText.includes('agents analyze FILE --web')")
	b.Do(chromedp.Click("#analyse"))
	b.Await("document.querySelector('#analysis').hidden")
}

func (b *tab) errors(dir string) {
	require.NoError(b, os.WriteFile(filepath.Join(dir, "odd.jsonl"), []byte("{oops\n"), 0o644))
	b.Visit("")
	b.Await("document.body.innerText.includes('odd.jsonl:1: invalid character')")
	b.Excuse("odd.jsonl", "etc%2Fpasswd")
	b.Visit("#odd.jsonl:1/0")
	b.Await("document.querySelector('#failure').textContent.includes('invalid character')")
	b.Visit("#" + url.PathEscape("../../etc/passwd") + "/0")
	b.Await("document.querySelector('#failure').textContent.includes('there is no game')")
	require.NoError(b, os.Remove(filepath.Join(dir, "odd.jsonl")))
}

// sizes shows pages in windows of several sizes, in the light and in the dark: nothing is wider than the window. All are
// shown on a phone, and the first in the other windows; pictures are taken of all.
func (b *tab) sizes(pages []string, show func(at string)) {
	for _, s := range []struct {
		name    string
		w, h    int64
		density float64
		dark    bool
	}{
		{"phone", 390, 844, 3, false}, {"phone-dark", 390, 844, 3, true}, {"tablet", 820, 1180, 2, false},
		{"dark", 1280, 800, 2, true}, {"large", 1920, 1080, 1, false},
	} {
		b.Size(s.w, s.h, s.density, s.dark)
		for k, at := range pages {
			if (k > 0 && s.name != "phone" || s.name == "phone-dark") && os.Getenv("BLOCKYARD_SHOTS") == "" {
				break
			}
			show(at)
			b.Await(fmt.Sprintf("innerWidth === %d && document.documentElement.scrollWidth <= innerWidth", s.w))
			b.Shot(s.name + "-" + word(b.Name()+at))
		}
	}
	b.Size(1280, 800, 1, false)
}

// logOf writes the log of a recorded game of two seats, in which bots write what is no text of a page, and returns it.
func logOf(t *testing.T, dir string) string {
	rec, _ := envtest.Must2(ReadGame(t.Context(), "../games/blockbattle.jsonl", 1, 0))
	var b strings.Builder
	fmt.Fprintln(&b, "player1 is Ann\nplayer2 is <b>Bob</b>")
	for turn := range 20 {
		fmt.Fprintf(&b, "Turn %d, round %d\n", turn, turn+1)
		fmt.Fprintf(&b, "player1 < update game round %d\nplayer1 < action moves 10000\nplayer1 > drop\n", turn+1)
		fmt.Fprintf(&b, "player1 ! depth %d, <script>document.title = \"mine\"</script>\nplayer1 @ 1.500 ms of 10000.000 ms\n", turn)
		if turn == 3 {
			fmt.Fprintln(&b, "player2 ! Traceback (most recent call last):\nplayer2 !   File \"bot.py\", line 7\nplayer2 * the bot has ended")
			fmt.Fprintf(&b, "player2 ! %s\n", strings.Repeat("long ", 1000))
		}
	}
	end := envtest.Must(gamelog.Record(rec))
	path := filepath.Join(dir, "game-001.log")
	require.NoError(t, os.WriteFile(path, []byte(b.String()+end+"\n"+b.String()+end+"\n"), 0o644))
	return path
}

// A contest's log is shown as its games, with what each bot got, answered and wrote beside the turn.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	path := logOf(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.log"), []byte("INFO started\n"), 0o644))
	for _, shown := range []string{path, dir} {
		c := serve(t, shown)
		games := c.list("").Games
		require.Len(t, games, 2, "a log of something else is none")
		for _, g := range games {
			require.Equal(t, "blockbattle", g.Game)
			require.Empty(t, c.game(g.ID).Replay.Error)
			frames := c.frames(g.ID, 0, 30).Frames
			require.Equal(t, &gamelog.Said{Input: "update game round 4\naction moves 10000", Answer: "drop",
				Errors: "depth 3, <script>document.title = \"mine\"</script>", Time: "1.500 ms of 10000.000 ms"}, frames[3].Seats[0].Said)
			require.Contains(t, frames[3].Seats[1].Said.Errors, "\n  File \"bot.py\", line 7\n")
			require.Nil(t, frames[4].Seats[1].Said)
			require.Nil(t, frames[25].Seats[0].Said)
		}
	}
	rec, _ := envtest.Must2(ReadGame(t.Context(), path, 2, 0))
	require.NotEmpty(t, rec.Choices)
	var page strings.Builder
	envtest.Must(WriteHTML(context.Background(), &page, path, 1))

	path = filepath.Join(dir, "other.log")
	_, _, err := ReadGame(t.Context(), path, 1, 0)
	require.ErrorContains(t, err, "does not end with the record of its game")
	require.Equal(t, "other.log: "+errNoGame.Error(), serve(t, path).list("").Games[0].Error)
	require.NoError(t, os.WriteFile(path, []byte("a is b\nrecord {\"game\":\n"), 0o644))
	require.Contains(t, serve(t, path).list("").Games[0].Error, "other.log:2: ")
	envtest.Must(record.Open(path))
}

// The page shows what was said as text, on every width, and leaves what the user folds folded.
func TestLogPage(t *testing.T) {
	b := browse(t, logOf(t, t.TempDir()))
	b.sizes([]string{"#game-001.log:1/3"}, func(at string) {
		b.Visit(at)
		b.Await("document.querySelectorAll('.said').length === 2 && document.querySelector('.said .errors')")
		require.Contains(t, b.Text("document.querySelector('.said .errors pre').textContent"), "depth 3, <script>")
		b.Text("document.querySelector('#log').scrollIntoView() || ''")
	})
	b.Text("document.querySelector('.said .time summary').click() || ''")
	b.Await("!document.querySelector('.said .time').open")
	b.Press(kb.ArrowRight)
	b.counter("4 / 63")
	require.Equal(t, "false", b.Text("document.querySelector('.said .time').open"))
	require.Contains(t, b.Text("document.querySelectorAll('.said')[1].innerText"), "Nothing in this turn")
	b.Clean()
}

// A counting is an analyst for which the legal actions are worth less and less, in the order of their ids.
type counting struct{ asked []int }

func (c *counting) Agents(game string) []string { return []string{"first", "other"} }

func (c *counting) Analyse(_ context.Context, r analysis.Request) (*analysis.Position, error) {
	c.asked = append(c.asked, r.Turn)
	if r.Turn == 13 {
		return nil, errors.New("thirteen is not my turn")
	}
	g := envtest.Must(games.Lookup(r.Record.Game))
	out := &analysis.Position{Game: g.Name, Turn: r.Turn, Agent: r.Agent, Unit: "minus the number", Seats: []analysis.Seat{}}
	for set := r.State.Acting(); set != 0; set = set.Rest() {
		seat := set.First()
		legal := r.State.Legal(seat, nil)
		s := analysis.Seat{Seat: seat, Player: r.Record.Agents[seat], Legal: len(legal), Ranked: len(legal)}
		for i, a := range legal {
			m := analysis.Move{Rank: i + 1, Action: a, Text: g.Text(a), Value: float64(-i), Loss: float64(i),
				Worth: fmt.Sprint(-i), Line: []analysis.Ply{{Seat: seat, Action: a, Text: "reply"}}}
			if i > 0 {
				m.Lost = fmt.Sprint(-i)
			}
			if i < 3 {
				s.Moves = append(s.Moves, m)
			}
			if a == r.Moves[seat] {
				s.Played = &m
			}
		}
		out.Seats = append(out.Seats, s)
	}
	return out, nil
}

func analysed(t *testing.T) (http.Handler, *counting) {
	dir, _ := samples(t)
	l := envtest.Must(NewLibrary([]string{dir}))
	a := new(counting)
	return NewServer(l, a), a
}

// The panel lists the moves of every seat that has to choose, shows them on the board, and finds the largest losses.
func TestAnalysisPanel(t *testing.T) {
	server, asked := analysed(t)
	b := browseAt(t, server)
	b.Visit("#blockbattle.jsonl:1/32")
	b.counter("32 / 63")
	require.Empty(t, asked.asked, "nothing is analysed unless somebody wants it")
	b.Press("a")
	b.Await("document.querySelectorAll('#analysis .aseat').length === 2")
	envtest.Has(t, b.Text("document.querySelector('#analysis').innerText"), "hand (seat 2)", "Value: minus the number")
	require.Regexp(t, `Played r\d x\d y\d+, move \d+ of \d+`, b.Text("document.querySelector('#analysis .aplayed').innerText"))
	require.Equal(t, "1", b.Text("document.querySelectorAll('#analysis .aseat:first-of-type .played').length"))

	// Looking at a move paints it in place of those that were played.
	pixels := "[...document.querySelectorAll('.frame canvas')[0].toDataURL()].reduce((h, c) => h * 31 + c.charCodeAt() | 0, 0)"
	before := b.Text(pixels)
	b.Do(chromedp.Click("#analysis .moves tbody:nth-of-type(2) .look"))
	b.Await(pixels + " !== " + before)
	require.Equal(t, "true", b.Text("document.querySelector('#analysis .here .look').getAttribute('aria-pressed')"))
	b.Do(chromedp.Click("#analysis .here .look"))
	b.Await(pixels + " === " + before)

	b.Excuse("turn=13&")
	b.Do(chromedp.Click("#analysis .hunt button"))
	b.Await("document.querySelectorAll('#analysis .losses li').length === 8")
	b.Await("document.querySelector('#analysis .hunt button').textContent === 'Search the game again'")
	require.Len(t, asked.asked, 64, "every turn once")
	b.Do(chromedp.Click("#analysis .losses li .look"))
	b.Await("Number(document.querySelector('#counter').textContent.split(' ')[1]) !== 32")
	b.Await("document.querySelectorAll('#analysis .aseat').length === 2")

	require.Contains(t, b.Text("document.querySelector('#analysis .hunt').innerText"), "Turn 13: thirteen is not my turn")
	b.Visit("#tetrisduel.jsonl:1/13")
	b.counter("13 / 560")
	b.Press("a")
	b.Await("document.querySelector('#analysis').innerText.includes('thirteen is not my turn')")
	pages := []string{"#blockbattle.jsonl:1/40", "#tetrisduel.jsonl:1/200", "#blocking4.jsonl:1/22", "#dropblox.jsonl:1/30", "#wintetris.jsonl:1/9"}
	b.sizes(pages, func(at string) {
		b.Visit(at)
		b.Await(painted)
		b.Do(chromedp.Click("#analyse"))
		b.Await("document.querySelectorAll('#analysis .aseat').length > 0")
	})
	b.Clean()
}

func TestAnalysisRequests(t *testing.T) {
	server, _ := analysed(t)
	c := serveAt(t, server)
	require.Equal(t, []string{"first", "other"}, c.game("blockbattle.jsonl:1").Agents)
	require.Equal(t, []string{"first", "other"}, c.game("history/0_1360540800").Agents)
	for path, want := range map[string]string{
		"analysis?id=blockbattle.jsonl:1&turn=3&agent=third":      "want one of",
		"analysis?id=blockbattle.jsonl:1&agent=first":             `turn: "", want a number`,
		"analysis?id=blockbattle.jsonl:1&turn=64&agent=first":     "the game has turns 0 to 63",
		"analysis?id=history/0_1360540800&turn=999&agent=first":   "the game has turns 0 to 127",
		"analysis?id=nothing&turn=1&agent=first":                  "there is no game",
		"marked?id=blockbattle.jsonl:1&turn=3&seat=0&action=1601": "action 1601 is not legal for seat 0",
		"marked?id=blockbattle.jsonl:1&turn=3&seat=3&action=1":    "is not legal for seat 3",
		"marked?id=blockbattle.jsonl:1&turn=3&seat=4&action=1":    "seat:",
		"marked?id=dropblox.jsonl:1&turn=3&seat=0&action=0":       "action 0 is not legal",
		"marked?id=history/0_1360540800&turn=3&seat=0&action=1":   "action 1 is not legal",
		"marked?id=blockbattle.jsonl:1&turn=999&seat=0&action=1":  "the game has turns 0 to 63",
		"marked?id=blockbattle.jsonl:1&turn=63&seat=0&action=1":   "is not legal",
		"game?id=blockbattle.jsonl:1&known=-1":                    "known:",
	} {
		var refused map[string]string
		require.GreaterOrEqual(t, c.get("/api/"+path, &refused), 400, path)
		require.Contains(t, refused["error"], want, path)
	}
}

// In Dropblox, a marked move is a ghost where the block comes to rest, and nothing else changes.
func TestMarkedDropblox(t *testing.T) {
	const id = "dropblox.jsonl:1"
	server, _ := analysed(t)
	c := serveAt(t, server)
	rec, all, starts := firstOf("../games/dropblox.jsonl"), c.all(id), c.game(id).Replay.Starts
	isGhost := func(glyph byte) bool { return glyph >= 'a' && glyph <= 'j' }
	for turn := 30; turn < 60; turn++ {
		var marked Frame
		path := fmt.Sprintf("/api/marked?id=%s&turn=%d&seat=0&action=%d", id, turn, rec.Choices[turn])
		require.Equal(t, http.StatusOK, c.get(path, &marked))
		was, is := all[starts[turn]].Boards[0].Cells, marked.Boards[0].Cells
		rests := all[starts[turn+1]-1].Boards[0].Cells // after all commands: the ghost is where it rests
		ghosts := 0
		for k := range is {
			ghost, inPlay := isGhost(is[k]), rests[k] >= 'A' && rests[k] <= 'J'
			if ghost {
				ghosts++
			}
			require.Equal(t, isGhost(rests[k]) || inPlay && ghost, ghost, "turn %d, cell %d", turn, k)
			require.Equal(t, was[k] == 'x', is[k] == 'x')
		}
		require.Positive(t, ghosts)
	}
}

// shows is a server's --watch, whose games are positions of a recorded one, and take a step with every request.
func shows(t *testing.T, game string, asked *atomic.Int64) *httptest.Server {
	rec := firstOf("../games/" + game + ".jsonl")
	g := envtest.Must(games.Lookup(game))
	shown := envtest.Must(playback.Whole(t.Context(), g, rec))
	var painter Painter
	server := httptest.NewServer(web.Handler(func(w http.ResponseWriter, r *http.Request) error {
		if r.Header.Get("Authorization") != "Bearer secret" {
			return ask.Status(http.StatusUnauthorized, fmt.Errorf("this server requires a token"))
		}
		var count int
		fmt.Sscan(r.FormValue("count"), &count)
		turn := int(asked.Add(1))
		list := []map[string]any{}
		for k := range count {
			shown.Seek((turn + k) % shown.Len())
			list = append(list, map[string]any{"id": fmt.Sprint("1.1.", k), "game": g.Name, "title": g.Title,
				"players": rec.Agents, "frame": painter.Position(shown.State(), rec.Agents, turn, true)})
		}
		web.Answer(w, map[string]any{"games": list, "handles": 1, "envs": 1024, "waiting": false})
		return nil
	}))
	t.Cleanup(server.Close)
	return server
}

// The page shows as many games as are chosen, as they go on, and says why it shows none.
func TestLiveGrid(t *testing.T) {
	var asked atomic.Int64
	server := shows(t, "blockbattle", &asked)
	b := browseAt(t, (&Live{Address: server.URL, Token: "secret"}).routes())
	b.Visit("")
	tiles := "document.querySelectorAll('.tile').length"
	b.Await(tiles + " === 16 && document.querySelector('#totals').textContent === '16 of 1,024 games'")
	b.Await("Number(document.querySelector('.tile small').textContent.split(' ')[1]) > 5")
	b.Await(painted)
	b.sizes([]string{""}, func(string) {})
	b.Text("(() => { const s = document.querySelector('#count'); s.value = 4; s.dispatchEvent(new Event('change')); })()")
	b.Await(tiles + " === 4")
	b.Clean()
	server.Close()
	b.Await("document.querySelector('#trouble').textContent.includes('does a server run there with --watch?')")
}

// Many pages ask the server no more often than one, and what it refuses is said before a page is served.
func TestLiveAsksRarely(t *testing.T) {
	var asked atomic.Int64
	server := shows(t, "blocking", &asked)
	h := &Live{Address: strings.TrimPrefix(server.URL, "http://"), Token: "secret"}
	began := time.Now()
	for range 20 {
		var got struct{ Games []json.RawMessage }
		require.Equal(t, 200, serveAt(t, h.routes()).get("/api/live?count=9", &got))
		require.Len(t, got.Games, 9)
	}
	require.LessOrEqual(t, asked.Load(), 1+int64(time.Since(began)/refreshed))
	var out bytes.Buffer
	for address, want := range map[string]string{
		server.URL: "requires a token", "127.0.0.1:1": "does a server run there", "%": "want HOST:PORT",
	} {
		live := Live{Address: address, Token: "wrong", PageFlags: web.PageFlags{Listen: "127.0.0.1:0"}}
		require.ErrorContains(t, live.Serve(context.Background(), &out, &out), want)
	}
	require.Empty(t, out.String())
}

// No web page of another site sees the games.
func TestLiveRefusesForeignPages(t *testing.T) {
	address := shows(t, "blocking", new(atomic.Int64)).URL
	live := Live{Address: address, Token: "secret", PageFlags: web.PageFlags{Listen: "127.0.0.1:0"}}
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- live.Serve(ctx, out, io.Discard) }()
	line := envtest.Must(bufio.NewReader(in).ReadString('\n'))
	webtest.Refuses(t, strings.Trim(line, "htp:/\n"), "/api/live?count=1", http.StatusOK)
	stop()
	require.NoError(t, <-ended)
}

// firstOf returns the first record of a file.
func firstOf(path string) *record.Record {
	r := envtest.Must(record.Open(path))
	defer r.Close()
	return envtest.Must(r.Read())
}

// TestRecordPage opens a document of every game in the browser, without a server: alone, and in a sandboxed frame as a
// notebook shows it.
func TestRecordPage(t *testing.T) {
	dir := t.TempDir()
	b := browse(t, dir)
	files := envtest.Must(filepath.Glob("../games/*.jsonl"))
	require.Len(t, files, 5)
	for _, file := range append(files, "testdata/blocking4.jsonl") {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			b.on(t)
			rec := firstOf(file)
			rec.Agents[0] = `</script><b id="bad">x</b>`
			source := filepath.Join(t.TempDir(), "my game #1.jsonl")
			require.NoError(t, record.AppendTo(source, rec))
			var doc strings.Builder
			require.Equal(t, 1, envtest.Must(WriteHTML(t.Context(), &doc, source, -1)).Number)
			require.Less(t, doc.Len(), 1<<20)
			path := filepath.Join(dir, name+".html")
			require.NoError(t, os.WriteFile(path, []byte(doc.String()), 0o644))
			b.Home = "file://" + path
			b.Visit("")
			b.Await(painted)
			require.True(t, strings.HasPrefix(b.Text("document.title"), kindOf(rec.Game).Title), b.Text("document.title"))
			require.Equal(t, "my game #1.jsonl:1", b.Text("document.querySelector('.where .id').textContent"))
			require.Equal(t, "null", b.Text("document.querySelector('#bad')"))
			last := b.Text("document.querySelector('#slider').max")
			b.counter("0 / " + last)
			b.Press(kb.ArrowRight)
			b.counter("1 / " + last)
			b.Press(kb.End)
			b.counter(fmt.Sprintf("%s / %s", last, last))
			b.Await("document.querySelector('.caption .end, .tint') !== null")
			b.scores(rec.Scores)
			b.Shot("static-" + name)
			b.Press(kb.Escape)
			b.Await("document.querySelectorAll('.row').length === 1")
			b.Text("document.querySelector('.row').click()")
			b.counter("0 / " + last)
			b.Text("document.querySelector('.brand').click()")
			b.Await("!document.querySelector('#list').hidden")
			b.framed(filepath.Join(dir, name+"-framed.html"), doc.String())
		})
	}
	b.Home = "file://" + dir
	b.on(t).Clean()
}

// framed shows doc in a frame without an address or rights, and waits for the large blue key that plays the game, and
// for the players.
func (b *tab) framed(path string, doc string) {
	frame := `<!doctype html><body style="margin:0;background:#fff"><iframe sandbox="allow-scripts" srcdoc="` +
		html.EscapeString(doc) + `" style="width:1200px;height:700px;border:0"></iframe>`
	require.NoError(b, os.WriteFile(path, []byte(frame), 0o644))
	b.Home = "file://" + path
	b.Visit("")
	require.Eventually(b, func() bool {
		shot := envtest.Must(chromedp.Run(b.Ctx, chromedp.CaptureScreenshot()))
		picture := envtest.Must(png.Decode(bytes.NewReader(shot)))
		key, seat := 0, 0 // pixels of the key, and of the mark of seat 0
		for x := range 1200 {
			for y := 60; y < 700; y++ {
				switch picture.At(x, y) {
				case color.RGBA{0x2f, 0x62, 0xd8, 0xff}:
					key++
				case color.RGBA{0x2f, 0x6f, 0xd0, 0xff}:
					seat++
				}
			}
		}
		return key > 1000 && seat > 30
	}, webtest.Patience, webtest.Patience/1000)
	b.Shot("framed-" + word(filepath.Base(path)))
}

// TestPageOfARecordHasNoTime: two builds of the documentation site are the same bytes.
func TestPageOfARecordHasNoTime(t *testing.T) {
	one := envtest.Must(entryOf(firstOf("../games/blockbattle.jsonl"), "x").html(t.Context()))
	time.Sleep(2 * time.Millisecond) // a time in milliseconds would differ
	require.Equal(t, one, envtest.Must(entryOf(firstOf("../games/blockbattle.jsonl"), "x").html(t.Context())))
}

// What cannot be shown is refused with the reason, and what can be shown partly is, with the reason.
func TestPageOfBadRecords(t *testing.T) {
	good := *firstOf("../games/blockbattle.jsonl")
	replay := func(rec *record.Record) info {
		_, data, _ := strings.Cut(envtest.Must(entryOf(rec, "x").html(context.Background())), `id="own" data-game="x">`)
		data, _, _ = strings.Cut(data, "</script>")
		zip := envtest.Must(gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))))
		var out struct {
			Game   struct{ Replay info }
			Frames []Frame
		}
		require.NoError(t, json.NewDecoder(zip).Decode(&out))
		require.Len(t, out.Frames, out.Game.Replay.Frames)
		return out.Game.Replay
	}
	whole := replay(&good)
	require.Empty(t, whole.Error)
	good.Values = nil
	cut := good
	cut.Choices = append(cut.Choices[:9:9], 1, 2)
	some := replay(&cut)
	require.Contains(t, some.Error, "does not replay")
	require.Less(t, some.Frames, whole.Frames)
	for number, want := range map[int]string{2: "has no game 2: it has 1 games", -2: "has no game -2"} {
		require.ErrorContains(t, envtest.Failed(WriteHTML(t.Context(), io.Discard, "testdata/blocking4.jsonl", number)), want)
	}
	require.Error(t, envtest.Failed(WriteHTML(t.Context(), io.Discard, "testdata/missing.jsonl", 1)))
	for said, change := range map[string]func(*record.Record){
		"version":        func(r *record.Record) { r.Rules++ },
		"nochess":        func(r *record.Record) { r.Game = "nochess" },
		"agents":         func(r *record.Record) { r.Agents = nil },
		"of the 7 seats": func(r *record.Record) { r.Seats = 7 },
		"draws":          func(r *record.Record) { r.Draws = [][]uint16{make([]uint16, 9)} },
		"4 bytes":        func(r *record.Record) { r.Start = []byte("what") },
	} {
		rec := good
		change(&rec)
		require.ErrorContains(t, envtest.Failed(entryOf(&rec, "x").html(t.Context())), said)
	}
	require.ErrorIs(t, envtest.Failed(entryOf(&good, "x").html(envtest.Stopped(t))), context.Canceled)
}
