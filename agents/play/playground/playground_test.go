//go:build !js

package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"blockyard/agents/bots"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/record"
	"blockyard/datasets/record/playback"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// folder builds the playground as "make playground" does. BLOCKYARD_PLAYGROUND names one that is built already.
func folder(t *testing.T) string {
	if built := os.Getenv("BLOCKYARD_PLAYGROUND"); built != "" {
		return built
	}
	dir := t.TempDir()
	wasm := filepath.Join(dir, "playground.wasm")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", wasm, ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	root := envtest.Must(exec.Command("go", "env", "GOROOT").Output())
	pages := filepath.Join(dir, "playground")
	require.NoError(t, write(wasm, filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"), pages))
	size := base64.StdEncoding.DecodedLen(len(envtest.Must(pack(filepath.Join(pages, "program.js")))))
	t.Logf("program.js: %d bytes compressed", size)
	require.Less(t, size, 2_500_000)
	return pages
}

// TestPlayground plays every game to its end on a page from the disk, where the program in it plays as this one does.
func TestPlayground(t *testing.T) {
	pages := folder(t)
	b := webtest.Open(t, http.NotFoundHandler())
	b.Home = "file://" + pages + "/"
	in := func(name string, test func(*webtest.Tab)) {
		t.Run(name, func(t *testing.T) {
			b.T = t
			test(b)
		})
	}
	for _, g := range games.All {
		if !strings.Contains(g.Name, ":") {
			in(g.Name, func(b *webtest.Tab) { plays(b, g) })
		}
	}
	in("moves", moves)
	in("unreadable", unreadable)
	b.T = t
	b.Clean()
}

// While its program starts, a page says so; if that fails, it says why.
func TestStarting(t *testing.T) {
	dir := t.TempDir()
	program, support := filepath.Join(dir, "program"), filepath.Join(dir, "support")
	require.NoError(t, os.WriteFile(program, []byte("no program"), 0o600))
	b := webtest.Open(t, http.NotFoundHandler())
	b.Home = "file://" + dir + "/"
	const starts, fails = "takes some seconds", "The program of this page does not run here"
	for _, c := range []struct{ support, says, not string }{
		{"for (;;) {}", starts, fails},
		{"globalThis.Go = class { importObject = {}; };", fails, starts},
	} {
		require.NoError(t, os.WriteFile(support, []byte(c.support), 0o600))
		require.NoError(t, write(program, support, dir))
		for _, page := range []string{"index.html", "watch.html"} {
			b.Visit(page)
			b.Await(fmt.Sprintf("document.body.innerText.includes(%q) && !document.body.innerText.includes(%q)", c.says, c.not))
		}
	}
}

// unreadable holds that the page says of a file that it cannot be read, until another one is opened: also while the
// list of games is read again.
func unreadable(b *webtest.Tab) {
	const alert = "Array.from(document.querySelectorAll('[role=alert]:not([hidden])'), (e) => e.textContent).join('|')"
	good := envtest.Must(os.ReadFile("../../../datasets/games/tetrisduel.jsonl"))
	search := func(text, total string) {
		b.Text(fmt.Sprintf("document.querySelector('#search').value = %q, void document.querySelector('#search').dispatchEvent(new Event('input'))", text))
		b.Await(fmt.Sprintf("document.querySelector('#total').textContent === %q", total))
	}
	b.Visit("watch.html")
	drop(b, "good.jsonl", good)
	b.Await("document.querySelector('.caption').textContent.startsWith('Turn 0')")
	for name, text := range map[string]string{"empty": "", "text": "no record\n", "zip": "\x1f\x8b\x08 no gzip", "half": string(good[:200])} {
		drop(b, name, []byte(text))
		b.Await(fmt.Sprintf("%s.includes(%q)", alert, name))
		search("", "1")
		search("nothing", "0 of 1")
		require.Contains(b, b.Text(alert), name, "it stays")
		drop(b, "good.jsonl", good)
		b.Await(fmt.Sprintf("!%s && document.querySelector('.caption').textContent.startsWith('Turn 0')", alert))
	}
	for _, passed := range []string{"%E0%A4%A", "no%20record", ""} { // from another page
		b.Visit("watch.html#record=" + passed)
		b.Await(alert + " && !document.querySelector('#list').hidden")
	}
	b.Visit("index.html#tetrisduel/7")
	b.Await("document.querySelector('#status').textContent.startsWith('Your move')")
	drop(b, "zip", []byte("\x1f\x8b\x08 no gzip"))
	b.Await(alert + ".includes('zip')")
}

// drop drops a file on the page.
func drop(b *webtest.Tab, name string, text []byte) {
	b.Text(fmt.Sprintf(`void (() => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q));
		dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true}));
	})()`, base64.StdEncoding.EncodeToString(text), name))
}

// plays plays a game by keys, touches and clicks, looks at the page in all sizes, and watches the record.
func plays(b *webtest.Tab, g *env.Game) {
	const turn = "document.querySelector('#status').textContent.startsWith('Your move')"
	begun := time.Now()
	b.Visit("index.html#" + g.Name + "/7")
	b.Await(turn)
	b.Logf("%s: a first move can be played after %v", g.Name, time.Since(begun))
	b.Press(kb.ArrowLeft, kb.ArrowUp, " ")
	b.Await(turn + " && document.querySelector('.caption').textContent !== 'Turn 0'")
	b.Sizes(g.Name)
	b.Size(390, 844, 2, false)
	before := b.Text("document.querySelector('.caption').textContent")
	touch(b, "#turn", "#place")
	b.Await(fmt.Sprintf("%s && document.querySelector('.caption').textContent !== %q", turn, before))
	b.Size(1280, 800, 1, false)
	b.Text(`setInterval(() => {
		const place = document.querySelector('#place'), other = document.querySelector('#others button');
		if (!place.disabled) place.click(); else if (other) other.click();
	}, 10)`)
	b.Await("!document.querySelector('#over').hidden")
	b.Shot(g.Name + "-over")
	b.Text("void playground('api/record').then((r) => r.json()).then((text) => { window.record = text; })")
	b.Await("window.record")
	rec := envtest.Must(envtest.Must(record.NewReader(g.Name, strings.NewReader(b.Text("window.record")))).Read())
	require.NoError(b, record.Check(g, rec))
	require.False(b, rec.Stopped)
	asOurs(b.T, g, rec)

	b.Do(chromedp.Click("#over button:nth-child(2)"))
	b.Await("location.pathname.endsWith('watch.html') && document.querySelector('.caption').textContent.startsWith('Turn 0')")
	b.Press("a")
	b.Await("document.querySelectorAll('#analysis .moves tbody').length > 1")
	b.Press(kb.End)
	b.Await("document.querySelector('#next').disabled")
	b.Shot(g.Name + "-watch")
}

// touch touches elements as a finger does, one after the other.
func touch(b *webtest.Tab, elements ...string) {
	_, err := chromedp.Call(b.Ctx, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	require.NoError(b, err)
	for _, element := range elements {
		at := envtest.Must(chromedp.Run(b.Ctx, chromedp.Evaluate[input.TouchPoint](fmt.Sprintf(
			"(() => { const r = document.querySelector(%q).getBoundingClientRect();"+
				"return {x: r.left + r.width / 2, y: r.top + r.height / 2}; })()", element))))
		for _, e := range []input.DispatchTouchEventParams{{Type: "touchStart", TouchPoints: []*input.TouchPoint{&at}},
			{Type: "touchEnd", TouchPoints: []*input.TouchPoint{}}} {
			envtest.Must(chromedp.Call(b.Ctx, input.DispatchTouchEvent, e))
		}
	}
}

// asOurs holds that the opponent of a record chose what it chooses on this machine.
func asOurs(t *testing.T, g *env.Game, rec *record.Record) {
	factory := envtest.Must(bots.New(g, bots.Foreign(opponent, nil)))
	agent := envtest.Must(factory(1))
	line := envtest.Must(playback.Whole(t.Context(), g, rec))
	chosen, s := 0, g.New(rec.Seats)
	for n := range line.Len() - 1 {
		line.Seek(n)
		if line.State().Acting().Has(1) && line.Moves()[1] != env.None {
			s.CopyFrom(line.State())
			a := envtest.Must(agent.Act(t.Context(), s, 1))
			require.Equal(t, g.Text(a), g.Text(line.Moves()[1]), "position %d", n)
			chosen++
		}
	}
	t.Logf("%s: %d choices of %s are the same", g.Name, chosen, opponent)
	require.Equal(t, rec.Seats > 1, chosen > 0)
}

// moves holds that analyses by "hand" and "learned" have the same moves and values in the page as on this machine: of
// more than a thousand positions if BLOCKYARD_LONG is set.
func moves(b *webtest.Tab) {
	const chunk = 2
	h := envtest.Must(newHall())
	files := envtest.Must(filepath.Glob("../../../datasets/games/*.jsonl"))
	require.Len(b, files, 5)
	b.Visit("watch.html")
	same := 0
	for _, path := range files {
		text := envtest.Must(os.ReadFile(path))
		name := filepath.Base(path)
		require.Positive(b, envtest.Must(h.library.Add(name, text)))
		drop(b, name, text)
		b.Await(fmt.Sprintf("document.querySelector('[data-id=%q]') || document.querySelector('.where .id').textContent === %[1]q",
			name+":1"))
		turns := envtest.Many(6, 420)
		if strings.HasPrefix(name, "dropblox") { // whose search takes twenty times as long
			turns = envtest.Many(2, 6)
		}
		b.Text("location.hash = ''") // the page reads no game meanwhile
	game:
		for from := 0; from < turns; from += chunk {
			b.Text(fmt.Sprintf(`(window.got = null, void (async () => {
				const got = [];
				for (let turn = %d; turn < %d; turn++) for (const agent of ['hand', 'learned']) {
					got.push(await (await playground('api/analysis', {id: %q, turn, agent})).text());
				}
				window.got = got.join('\n');
			})())`, from, from+chunk, name+":1"))
			b.Await("window.got")
			for k, got := range strings.Split(b.Text("window.got"), "\n") {
				agent := []string{"hand", "learned"}[k%2]
				values := url.Values{"id": {name + ":1"}, "turn": {fmt.Sprint(from + k/2)}, "agent": {agent}}
				status, want := h.Answer(b.Context(), "GET /api/analysis", &ask.Request{Values: values})
				require.Equal(b, rounded(string(want)), rounded(got), "%s, turn %d, %s", name, from+k/2, agent)
				if status != 200 {
					break game // the game is over
				}
				same++
			}
		}
	}
	b.Logf("%d analyses are the same", same)
	require.Greater(b, same, envtest.Many(45, 1000))
}

var number = regexp.MustCompile(`-?\d+\.\d+(e-?\d+)?`)

// rounded is a text with its numbers to nine digits: the exponential function of amd64, which makes a chance of what a
// network says, differs from that of Go in the last bit.
func rounded(text string) string {
	return number.ReplaceAllStringFunc(text, func(n string) string {
		x, _ := strconv.ParseFloat(n, 64)
		return strconv.FormatFloat(x, 'g', 9, 64)
	})
}
