package viewer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/web/webtest"
)

// A tab is a page of the browser that shows a Server's page.
type tab struct{ *webtest.Tab }

// browse opens a browser on a server of its own that shows paths.
func browse(t *testing.T, paths ...string) *tab {
	l, err := NewLibrary(paths)
	require.NoError(t, err)
	return browseAt(t, NewServer(l, nil))
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
	b.Helper()
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
	t.Run("sizes", func(t *testing.T) { b.on(t).sizes() })
	b.on(t).Clean()
}

func (b *tab) list() {
	b.Visit("")
	b.Await("document.querySelectorAll('.row').length >= 6")
	b.Await("document.querySelector('.row').innerText.includes('live')") // a game being played comes first
	b.Await("document.querySelector('#total').textContent > 5")
	b.Shot("list")
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

// games opens a game of every kind in the middle and at its end.
func (b *tab) games() {
	c := &client{b.T, b.Server}
	for _, g := range c.list("").Games {
		turns := c.game(g.ID).Replay.Turns
		b.Visit(fmt.Sprintf("#%s/%d", g.ID, turns/2))
		b.counter(fmt.Sprintf("%d / %d", turns/2, turns-1))
		b.Await(painted)
		b.Shot("mid-" + word(g.ID))
		b.Press(kb.End)
		b.counter(fmt.Sprintf("%d / %d", turns-1, turns-1))
		if !g.Live && !g.Stopped {
			b.Await("document.querySelector('.caption .end, .tint') !== null")
		}
		for seat, score := range g.Scores {
			if !g.Live {
				shown := b.Text(fmt.Sprintf("document.querySelectorAll('.seat .score')[%d].textContent", seat))
				require.Equal(b, fmt.Sprint(score), strings.ReplaceAll(shown, ",", ""))
			}
		}
		b.Shot("end-" + word(g.ID))
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
	b.Text("location.hash = '#blocking.jsonl:1/7'") // as a link does
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
	b.Shot("analysis-none")
	b.Do(chromedp.Click("#analyse"))
	b.Await("document.querySelector('#analysis').hidden")
}

func (b *tab) errors(dir string) {
	require.NoError(b, os.WriteFile(filepath.Join(dir, "odd.jsonl"), []byte("{oops\n"), 0o644))
	b.Visit("")
	b.Await("document.body.innerText.includes('odd.jsonl:1: invalid character')")
	b.Shot("list-error")
	b.Quiet = true // the browser notes every answer of this kind on its console
	b.Visit("#odd.jsonl:1/0")
	b.Await("document.querySelector('#failure').textContent.includes('invalid character')")
	b.Visit("#" + url.PathEscape("../../etc/passwd") + "/0")
	b.Await("document.querySelector('#failure').textContent.includes('there is no game')")
	b.Shot("error")
	b.Visit("about")
	b.Quiet = false
	require.NoError(b, os.Remove(filepath.Join(dir, "odd.jsonl")))
}

// sizes looks at the page on a phone and in the dark: nothing is wider than the window.
func (b *tab) sizes() {
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
		pages := []string{"", "#blockbattle.jsonl:1/40", "#tetrisduel.jsonl:1/200", "#blocking4.jsonl:1/22",
			"#history/0_1360540800/30"}
		if s.name != "phone" && os.Getenv("BLOCKYARD_SHOTS") == "" {
			pages = pages[1:2]
		}
		for _, at := range pages {
			b.Visit(at)
			if at == "" {
				b.Await("document.querySelectorAll('.row').length >= 6")
			} else {
				b.Await("Number(document.querySelector('#counter').textContent.split(' ')[1]) > 0")
			}
			require.Equal(b, "true", b.Text("document.documentElement.scrollWidth <= innerWidth"), "%s %s", s.name, at)
			b.Shot(s.name + "-" + word(at))
		}
	}
	b.Size(1280, 800, 1, false)
}
