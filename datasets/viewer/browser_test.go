package viewer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is how long the browser may take to come to what is expected of it.
const patience = 2 * time.Minute

// chromium finds the browser. The page is not tested without one, so there must be one.
func chromium(t *testing.T) string {
	names := []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"}
	for _, name := range names {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Fatal("the replay page is tested in a real browser and none was found: install Chromium " +
		"(Debian: apt-get install chromium) or name one in the environment variable CHROMIUM")
	return ""
}

// A tab is a page of the browser that watches what the page does.
type tab struct {
	*testing.T
	ctx    context.Context
	server *httptest.Server
	home   string
	quiet  bool // errors on the console are expected

	mu       sync.Mutex
	requests []string
	troubles []string // errors and exceptions on the page's console
}

// browse opens a browser on a server of its own that shows paths.
func browse(t *testing.T, paths ...string) *tab {
	l, err := NewLibrary(paths)
	require.NoError(t, err)
	return browseAt(t, NewServer(l, nil, true))
}

// browseAt opens a browser on a server.
func browseAt(t *testing.T, handler http.Handler) *tab {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &tab{T: t, ctx: ctx, server: server, home: server.URL + "/"}
	require.NoError(t, chromedp.Listen(ctx, b.watch))
	enable(b)
	b.size(1280, 800, 1, false)
	return b
}

func enable(b *tab) {
	_, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
	require.NoError(b, err)
	_, err = chromedp.Call(b.ctx, log.Enable, struct{}{})
	require.NoError(b, err)
}

// on makes what fails fail t.
func (b *tab) on(t *testing.T) *tab {
	b.T = t
	return b
}

func jsonOf(text string, into any) error { return json.Unmarshal([]byte(text), into) }

// watch keeps what the page asks for and complains of.
func (b *tab) watch(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.troubles = append(b.troubles, fmt.Sprintf("%+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			b.troubles = append(b.troubles, fmt.Sprintf("console %s: %+v", e.Type, e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" && !b.quiet {
			b.troubles = append(b.troubles, fmt.Sprintf("%s: %s", e.Entry.Text, e.Entry.URL))
		}
	}
}

// clean holds that the page asked nobody but its server, and complained of nothing.
func (b *tab) clean() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b, b.troubles)
	require.NotEmpty(b, b.requests)
	for _, url := range b.requests {
		require.True(b, strings.HasPrefix(url, b.home) || strings.HasPrefix(url, "data:"), "the page asked for %s", url)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 2*patience)
	defer stop()
	require.NoError(b, chromedp.Do(ctx, actions...))
}

// size makes the window so large, in CSS pixels of so many device pixels.
func (b *tab) size(w, h int64, density float64, dark bool) {
	b.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: w, Height: h, DeviceScaleFactor: density, Mobile: w < 500})
	require.NoError(b, err)
	_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(b, err)
}

// visit goes to what follows the server's address, as if it were typed.
func (b *tab) visit(fragment string) {
	b.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.home+fragment))
}

// text is what a script makes of the page, as text.
func (b *tab) text(script string) string {
	b.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+script+")"))
	require.NoError(b, err)
	return out
}

// await waits until a script is true.
func (b *tab) await(script string) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	for {
		safe := "(() => { try { return Boolean(" + script + "); } catch { return false; } })()"
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](safe))
		if ok && err == nil {
			return
		}
		if ctx.Err() != nil {
			require.Failf(b, "the page does not come to "+script, "it shows %q, %q",
				b.text("document.body.innerText"), b.text("location.hash"))
		}
		require.NoError(b, err)
		time.Sleep(25 * time.Millisecond)
	}
}

// counter waits until the page shows turn n of last, given without its thousands' commas.
func (b *tab) counter(text string) {
	b.Helper()
	b.await("document.querySelector('#counter').textContent.replaceAll(',', '') === 'Turn " + text + "'")
}

func (b *tab) press(keys ...string) {
	b.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// shot keeps a picture of the page, where the environment names a folder for them.
func (b *tab) shot(name string) {
	b.Helper()
	dir := os.Getenv("BLOCKYARD_SHOTS")
	if dir == "" {
		return
	}
	time.Sleep(150 * time.Millisecond)
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}
