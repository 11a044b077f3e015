package viewer

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/record"
	"blockyard/env/envtest"
)

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
			source := filepath.Join(dir, "my game #1.jsonl")
			w := envtest.Must(record.Create(source))
			require.NoError(t, w.Write(rec))
			require.NoError(t, w.Close())
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
			for seat, score := range rec.Scores {
				shown := b.Text(fmt.Sprintf("document.querySelectorAll('.seat .score')[%d].textContent", seat))
				require.Equal(t, fmt.Sprint(score), strings.ReplaceAll(shown, ",", ""))
			}
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
		"version":          func(r *record.Record) { r.Rules++ },
		"nochess":          func(r *record.Record) { r.Game = "nochess" },
		"agents":           func(r *record.Record) { r.Agents = nil },
		"of the 7 seats":   func(r *record.Record) { r.Seats = 7 },
		"draws":            func(r *record.Record) { r.Draws = [][]uint16{make([]uint16, 9)} },
		"4 bytes":          func(r *record.Record) { r.Start = []byte("what") },
		"context canceled": func(r *record.Record) {},
	} {
		rec, ctx := good, context.Background()
		change(&rec)
		if said == "context canceled" {
			done, stop := context.WithCancel(ctx)
			stop()
			ctx = done
		}
		require.ErrorContains(t, envtest.Failed(entryOf(&rec, "x").html(ctx)), said)
	}
}
