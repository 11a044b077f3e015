// Package web serves HTTP for every program: one server with limits on time, size and connections (Server), and the
// pages of the project and the JSON that they ask for (Listen, Protect, Handler, Answer).
//
// No web page of another site reaches a Server: a request with the Origin of another site, or with the Host of a name
// that is not the server's, as after DNS rebinding, is refused before its handler sees it. A server is called by any
// IP address, by localhost, by the name of its machine if other machines reach its address, and by Limits.Names. A
// proxy in front of it must pass on the Host that it gets, or replace it by an address.
//
// A connection belongs to a stranger until a handler calls Known with the name of a member, such as a team that has
// sent its password. Strangers and members have separate limits, so strangers cannot use up the connections of members.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"
	"time"
)

// Limits are what a server grants its clients. A field that is 0 has the default, which stands last in its comment.
type Limits struct {
	Header      time.Duration // for the head of a request; 10 s
	Read        time.Duration // for a whole request, below 0 for no limit; 1 min
	Write       time.Duration // for a request and its answer, below 0 for no limit; 2 min
	Idle        time.Duration // between two requests of a connection; 2 min
	HeaderBytes int           // of the head of a request; 32 KiB
	Strangers   int           // open connections of strangers; 256
	Members     int           // open connections of all members; 1,024
	PerMember   int           // open connections of one member; 16
	Names       Names         // of this server; none
	Log         *slog.Logger  // gets warnings; the standard logger of package log
}

// A Server answers requests within limits. One connection too many closes an older one, and is accepted.
type Server struct {
	http   *http.Server
	limits Limits
}

// NewServer returns a server for a handler, with defaults for the limits that are 0. Serve starts it.
func NewServer(handler http.Handler, l Limits) *Server {
	l.Header, l.Read = cmp.Or(l.Header, 10*time.Second), cmp.Or(l.Read, time.Minute)
	l.Write, l.Idle = cmp.Or(l.Write, 2*time.Minute), cmp.Or(l.Idle, 2*time.Minute)
	l.HeaderBytes, l.Strangers = cmp.Or(l.HeaderBytes, 32<<10), cmp.Or(l.Strangers, 256)
	l.Members, l.PerMember = cmp.Or(l.Members, 1024), cmp.Or(l.PerMember, 16)
	guarded := guard(handler)
	s := &Server{limits: l, http: &http.Server{
		ReadHeaderTimeout: l.Header, ReadTimeout: max(l.Read, 0), WriteTimeout: max(l.Write, 0), IdleTimeout: l.Idle,
		MaxHeaderBytes: l.HeaderBytes,
		ConnContext:    func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer Asked(r)
			guarded.ServeHTTP(w, r)
		}),
	}}
	if l.Log != nil {
		s.http.ErrorLog = slog.NewLogLogger(l.Log.Handler(), slog.LevelWarn)
	}
	return s
}

// Serve answers requests on a listener until Close or Stop; the error is then nil.
func (s *Server) Serve(l net.Listener) error {
	door := &door{Listener: l, limits: s.limits, names: s.limits.Names.of(l.Addr()), conns: map[*conn]bool{}}
	if err := s.http.Serve(door); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Stop ends the server. Requests in progress have a second to end.
func (s *Server) Stop() {
	soon, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(soon) != nil {
		_ = s.http.Close()
	}
}

// Close ends the server and all connections at once. Its listener may be closed already.
func (s *Server) Close() error {
	if err := s.http.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Serve serves until ctx is done, which ends the contexts of requests; after another second they are cut off.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, limits Limits) error {
	s := NewServer(handler, limits)
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	defer context.AfterFunc(ctx, s.Stop)()
	return s.Serve(listener)
}

// PageFlags are the flags of a command that serves a page with --web. The tags are those of kong.
type PageFlags struct {
	Listen string `needs:"web" default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"address; port 0 is a free one."`
	Open   bool   `needs:"web" help:"open the page in the default browser."`
	Names  Names  `name:"allowed-host" needs:"web" placeholder:"NAME" help:"another name of this server, for browsers."`
}

// Listen listens on an address for Serve and prints on out where a browser on this machine finds the page at path. If
// open is set, it opens the page in the default browser; if that fails, errs says so.
func Listen(address, path string, open bool, out, errs io.Writer) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w: name another address with --listen; port 0 selects a free port", err)
	}
	page := "http://" + reachable(l.Addr()) + path
	fmt.Fprintln(out, page)
	if open {
		if err := openBrowser(page); err != nil {
			fmt.Fprintf(errs, "no browser could be started (%v): open the address yourself\n", err)
		}
	}
	return l, nil
}

func reachable(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return a.String()
}

func openBrowser(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the browser's status says nothing
	return nil
}
