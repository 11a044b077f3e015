package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/web/webtest"
	"blockyard/env/envtest"
)

// served serves a handler until the test ends and returns its address.
func served(t *testing.T, handler http.HandlerFunc, limits Limits) string {
	l := envtest.Must(net.Listen("tcp", "127.0.0.1:0"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, handler, limits) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return l.Addr().String()
}

// answered sends a whole request and returns the connection after its answer.
func answered(t *testing.T, address, path string) net.Conn {
	c := webtest.Dial(t, address, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
	b := make([]byte, 15)
	envtest.Must(io.ReadFull(c, b))
	require.Equal(t, "HTTP/1.1 200 OK", string(b))
	return c
}

// isClosed waits until the other side has closed a connection.
func isClosed(t *testing.T, c net.Conn) {
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
	_, err := io.Copy(io.Discard, c)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

// Whatever strangers hold open, in silence, in the middle of a head or of a body, or after an answer, the next request
// is answered.
func TestHeldConnectionsKeepNobodyOut(t *testing.T) {
	for name, text := range map[string]string{
		"silence":        "",
		"half a head":    "GET / HT",
		"half a body":    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n{",
		"kept after one": "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			address := served(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }, Limits{Strangers: 8})
			closed := make(chan bool, 30)
			for range 30 {
				c := webtest.Dial(t, address, text)
				go func() {
					_, _ = io.Copy(io.Discard, c)
					closed <- true
				}()
			}
			for range 30 - 8 { // more would hang here
				<-closed
			}
			answered(t, address, "/")
		})
	}
}

// A member's connection stays when strangers come, and one member pushes out nobody but itself.
func TestMembersStay(t *testing.T) {
	address := served(t, func(w http.ResponseWriter, r *http.Request) {
		if name := strings.Trim(r.URL.Path, "/"); name != "" {
			Known(r, name)
		}
		fmt.Fprintln(w, Stranger(r), Asked(r))
	}, Limits{Strangers: 2, PerMember: 3})
	blue := answered(t, address, "/blue")
	for range 20 {
		webtest.Dial(t, address, "")
	}
	red := make([]net.Conn, 0, 8)
	for range 8 {
		red = append(red, answered(t, address, "/red"))
	}
	for _, c := range red[:5] {
		isClosed(t, c)
	}
	envtest.Must(io.WriteString(blue, "GET /blue HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	require.NoError(t, blue.SetDeadline(time.Now().Add(time.Minute)))
	seen := ""
	for strings.Count(seen, "false 127.0.0.1") < 2 {
		b := make([]byte, 512)
		n, err := blue.Read(b)
		require.NoError(t, err, seen)
		seen += string(b[:n])
	}
}

// A head or a body that never comes ends the connection after the limit.
func TestHalfRequestsEnd(t *testing.T) {
	address := served(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) },
		Limits{Header: time.Millisecond, Read: 2 * time.Millisecond})
	const half = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n{"
	isClosed(t, webtest.Dial(t, address, half[:8]))
	isClosed(t, webtest.Dial(t, address, half))
}

// Only its own names reach a server: any address, localhost, those that it is given, and the name of the machine if other
// machines reach it. Of web pages, only its own do.
func TestHosts(t *testing.T) {
	machine := envtest.Must(os.Hostname())
	short, _, _ := strings.Cut(machine, ".")
	const local = "127.0.0.1:80"
	for _, c := range []struct {
		host, origin string
		here, there  bool // whether it is answered on loopback, and on an address that other machines reach
	}{
		{"localhost", "", true, true}, {"LOCALHOST:80", "", true, true}, {"localhost.:80", "", true, true},
		{"127.0.0.1:8080", "", true, true}, {"[::1]:80", "", true, true}, {"[::1]", "", true, true}, {"10.0.0.7:80", "", true, true},
		{"games.example.org", "", true, true}, {"GAMES.example.org.:80", "", true, true},
		{machine, "", false, true}, {strings.ToUpper(machine) + ":80", "", false, true}, {short, "", false, true}, {short + ".local:80", "", false, true},
		{"evil.example.org", "", false, false}, {"", "", false, false}, {"127.0.0.1.evil.org", "", false, false},
		{machine + ".evil.org", "", false, false}, {"localhost.evil.org", "", false, false}, {"127.1", "", false, false},
		{"localhost:80:80", "", false, false}, {"evil.org:80@localhost", "", false, false}, {".", "", false, false},
		{local, "http://" + local, true, true}, {local, "http://evil.org", false, false}, {local, "null", false, false},
		{local, "http://localhost:80", false, false}, {local, "http://127.0.0.1", false, false}, {local, "%", false, false},
		{"games.example.org", "https://games.example.org", true, true},
		{"games.example.org", "https://games.example.org:81", false, false},
	} {
		for address, want := range map[string]bool{local: c.here, "[::1]:80": c.here, "0.0.0.0:80": c.there, "[::]:80": c.there} {
			a := envtest.Must(net.ResolveTCPAddr("tcp", address))
			err := Names{"games.example.org"}.of(a).refuse(&http.Request{Host: c.host, Header: http.Header{"Origin": {c.origin}}})
			require.Equal(t, want, err == nil, "%s at %s: %v", c, address, err)
		}
	}
	require.ErrorContains(t, Names{"a:80"}.Validate(), `host "a:80": want a name without a port`)
	require.Error(t, Names{"a", ""}.Validate())
	require.NoError(t, Names{"a.example"}.Validate())
	for address, want := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "[::ffff:127.0.0.9]:80": true, "0.0.0.0:80": false} {
		require.Equal(t, want, OnLoopback(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))), address)
	}
	require.False(t, OnLoopback(&net.UnixAddr{Name: "/tmp/x"}))
}

// A Server refuses before its handler sees anything, and says what to do.
func TestForeignPages(t *testing.T) {
	webtest.Refuses(t, served(t, func(http.ResponseWriter, *http.Request) {}, Limits{}), "/", http.StatusOK)
	own := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }
	address := served(t, own, Limits{Names: Names{"play.example"}})
	for host, want := range map[string]string{"rebound.example": "--allowed-host NAME", "play.example:443": "/own"} {
		q := envtest.Must(http.NewRequest(http.MethodGet, "http://"+address+"/own", nil))
		q.Host = host
		r := envtest.Must(http.DefaultClient.Do(q))
		defer r.Body.Close()
		text := envtest.Must(io.ReadAll(r.Body))
		require.Equal(t, want == "/own", r.StatusCode == http.StatusOK)
		require.Equal(t, want == "/own", string(text) == "/own")
		require.Contains(t, string(text), want)
	}
}

// The address that is printed can be opened on this machine; one that is taken is refused with a hint.
func TestListen(t *testing.T) {
	var out, errs strings.Builder
	l := envtest.Closing(t, envtest.Must(Listen("0.0.0.0:0", "/#game/3", false, &out, &errs)))
	_, port := envtest.Must2(net.SplitHostPort(l.Addr().String()))
	require.Equal(t, "http://127.0.0.1:"+port+"/#game/3\n", out.String())
	_, err := Listen(l.Addr().String(), "/", true, &out, &errs)
	require.ErrorContains(t, err, "name another address with --listen")
	require.Empty(t, errs.String())
}

// A closedListener was closed by another, which its Accept has not noticed.
type closedListener struct {
	net.Listener
	accepting, over chan struct{}
}

func (l closedListener) Accept() (net.Conn, error) {
	close(l.accepting)
	<-l.over
	return nil, net.ErrClosed
}

func (closedListener) Addr() net.Addr { return new(net.TCPAddr) }

func (l closedListener) Close() error {
	close(l.over)
	return net.ErrClosed
}

// TestCloseAfterTheListener: a program that has closed its listeners closes its servers without an error.
func TestCloseAfterTheListener(t *testing.T) {
	s, ended := NewServer(http.NotFoundHandler(), Limits{}), make(chan error, 1)
	l := closedListener{accepting: make(chan struct{}), over: make(chan struct{})}
	go func() { ended <- s.Serve(l) }()
	<-l.accepting
	require.NoError(t, s.Close())
	require.NoError(t, <-ended)
}

// A crowd wants turns while the test has the turn.
type crowd struct {
	t     *testing.T
	turns Turns
	group sync.WaitGroup
	order chan string // who had a turn, in this order
	busy  chan string // who was refused
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{t: t, order: make(chan string, 1000), busy: make(chan string, 1000)}
	require.NoError(t, c.turns.Enter(t.Context(), "test", ""))
	return c
}

// want waits for a turn of a client for an object, and returns when it waits or was refused.
func (c *crowd) want(ctx context.Context, client, object string) {
	waiting, refused := c.turns.Waiting(), len(c.busy)
	c.group.Go(func() {
		switch err := c.turns.Enter(ctx, client, object); {
		case err == nil:
			c.order <- client + object
			c.turns.Leave()
		case errors.Is(err, ErrBusy):
			c.busy <- client + object
		}
	})
	require.Eventually(c.t, func() bool { return c.turns.Waiting() > waiting || len(c.busy) > refused }, hang,
		50*time.Microsecond)
}

// hang bounds what a test waits for: it only ends one that hangs.
const hang = 2 * time.Minute

// However many requests wait, those of another client, and those for another object, wait for one of them at most.
func TestTurns(t *testing.T) {
	c := newCrowd(t)
	for range 60 {
		c.want(t.Context(), "x", "a")
	}
	c.want(t.Context(), "x", "b")
	c.want(t.Context(), "y", "a")
	ctx, cancel := context.WithCancel(t.Context())
	c.want(ctx, "z", "a")
	cancel() // who goes away is not waited for
	require.Eventually(t, func() bool { return c.turns.Waiting() == 62 }, hang, time.Millisecond)
	c.turns.Leave()
	c.group.Wait()
	require.Equal(t, []string{"xa", "ya", "xb", "xa"}, []string{<-c.order, <-c.order, <-c.order, <-c.order})
	require.Len(t, c.order, 58)
	require.False(t, c.turns.busy)
}

// Only so many requests wait. It is one of the client with most of them, and for its object with most of them, that is
// refused.
func TestTurnsAreBounded(t *testing.T) {
	c := newCrowd(t)
	c.want(t.Context(), "x", "b")
	for range MaxWaiting + 50 {
		c.want(t.Context(), "x", "a")
	}
	for range 10 {
		c.want(t.Context(), "y", "a")
	}
	require.Len(t, c.busy, 61)
	for range 61 {
		require.Equal(t, "xa", <-c.busy)
	}
	require.Equal(t, MaxWaiting, c.turns.Waiting())
	c.turns.Leave()
	c.group.Wait()
}
