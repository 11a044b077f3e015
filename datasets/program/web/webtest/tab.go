// Package webtest drives pages in a real browser, for the tests of all programs that serve some.
package webtest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

const Patience = 2 * time.Minute // how long the browser may take to come to what is expected of it

// chromium finds the browser. Pages are not tested without one, so there must be one. The shell is the same browser
// without windows and what belongs to them, at half the cost.
func chromium(t *testing.T) string {
	names := []string{os.Getenv("CHROMIUM"), "chromium-headless-shell", "headless-shell", "chromium", "chromium-browser",
		"google-chrome", "chrome"}
	for _, name := range names {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Fatal("pages are tested in a real browser and none was found: install Chromium " +
		"(Debian: apt-get install chromium-headless-shell) or name one in the environment variable CHROMIUM")
	return ""
}

// A Tab is a page of the browser that watches what the page does.
type Tab struct {
	*testing.T
	Ctx    context.Context
	Server *httptest.Server
	Home   string // address that the page may send requests to, and at which Visit begins

	mu       sync.Mutex
	requests []string
	troubles []string // errors and exceptions on the page's console
	excused  []string // parts of addresses whose requests may fail
}

// Open opens a browser on a server of its own for a handler.
func Open(t *testing.T, handler http.Handler) *Tab {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &Tab{T: t, Ctx: ctx, Server: server, Home: server.URL + "/"}
	require.NoError(t, chromedp.Listen(ctx, b.watch))
	_, err := chromedp.Call(b.Ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(b.Ctx, log.Enable, struct{}{})
	require.NoError(t, err)
	b.Size(1280, 800, 1, false)
	return b
}

// Forget forgets the requests that the page has made so far.
func (b *Tab) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = nil
}

// Excuse lets requests fail whose addresses contain one of the parts. The browser notes a failure on its console at any time
// later, so failures are told apart by address, not by time.
func (b *Tab) Excuse(parts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.excused = append(b.excused, parts...)
}

func (b *Tab) watch(event any) {
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
		names := func(part string) bool { return strings.Contains(e.Entry.URL, part) }
		if e.Entry.Level == "error" && !slices.ContainsFunc(b.excused, names) {
			b.troubles = append(b.troubles, fmt.Sprintf("%s: %s", e.Entry.Text, e.Entry.URL))
		}
	}
}

// Clean holds that the page asked nobody but its server, and complained of nothing.
func (b *Tab) Clean() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b, b.troubles)
	require.NotEmpty(b, b.requests)
	for _, url := range b.requests {
		own := func(prefix string) bool { return strings.HasPrefix(url, prefix) }
		require.True(b, slices.ContainsFunc([]string{b.Home, "data:", "blob:"}, own), "the page asked for %s", url)
	}
}

// Do performs actions of the browser, or fails the test after a while.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.Ctx, 2*Patience)
	defer stop()
	require.NoError(b, chromedp.Do(ctx, actions...))
}

// Size makes the window so large, in CSS pixels of so many device pixels.
func (b *Tab) Size(w, h int64, density float64, dark bool) {
	b.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(b.Ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: w, Height: h, DeviceScaleFactor: density, Mobile: w < 500})
	require.NoError(b, err)
	_, err = chromedp.Call(b.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(b, err)
}

// Sizes looks at the page in both themes, also on a phone and a tablet: nothing is wider than the window.
func (b *Tab) Sizes(name string) {
	b.Helper()
	for _, size := range [][3]int64{{390, 844, 3}, {768, 1024, 1}, {1280, 800, 1}} {
		for _, dark := range []bool{true, false} {
			b.Size(size[0], size[1], float64(size[2]), dark)
			b.Await(fmt.Sprintf("innerWidth === %d && document.documentElement.scrollWidth <= innerWidth", size[0]))
			b.Shot(fmt.Sprintf("%s-%d-dark-%v", name, size[0], dark))
		}
	}
}

// Visit goes to what follows the server's address, as if it were typed.
func (b *Tab) Visit(fragment string) {
	b.Helper()
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.Home+fragment))
}

// Text is what a script makes of the page, as text.
func (b *Tab) Text(script string) string {
	b.Helper()
	out, err := chromedp.Run(b.Ctx, chromedp.Evaluate[string]("String("+script+")"))
	require.NoError(b, err)
	return out
}

// Await waits until a script is true in the page, or fails the test with what the page shows.
func (b *Tab) Await(script string) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.Ctx, Patience)
	defer stop()
	for {
		safe := "(() => { try { return Boolean(" + script + "); } catch { return false; } })()"
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](safe))
		if ok && err == nil {
			return
		}
		if ctx.Err() != nil {
			require.Failf(b, "the page does not come to "+script, "it shows %q, %q",
				b.Text("document.body.innerText"), b.Text("location.hash"))
		}
		if err != nil && !strings.Contains(err.Error(), "navigated") { // the page is on its way to another
			require.NoError(b, err)
		}
		time.Sleep(25 * time.Millisecond)
	}
}

// Press presses keys, one after the other, in the element that has the focus.
func (b *Tab) Press(keys ...string) {
	b.Helper()
	for _, k := range keys {
		b.Do(chromedp.KeyEvent(k))
	}
}

// Shot keeps a picture of the page, where the environment names a folder for them.
func (b *Tab) Shot(name string) {
	b.Helper()
	dir := os.Getenv("BLOCKYARD_SHOTS")
	if dir == "" {
		return
	}
	time.Sleep(150 * time.Millisecond)
	png, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot())
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}
