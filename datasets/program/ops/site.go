package ops

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"blockyard/datasets/program/web"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Limits on the clients of a site.
const (
	mostScrapes = 4 // at the same time; one more is answered with 503
	scrapeTime  = 20 * time.Second
)

// A Site answers health checks and shows metrics over HTTP:
//
//	/healthz   200 while the program runs
//	/readyz    200 between Ready and Unready, otherwise 503 with the reason
//	/metrics   the metrics as Prometheus reads them
//
// The methods may be called by several goroutines, and on nil.
type Site struct {
	listener net.Listener
	server   *web.Server
	ended    chan error
	unready  atomic.Pointer[string] // why /readyz refuses; nil if it does not
}

func newSite(l net.Listener, log *slog.Logger, all []Collector) (*Site, error) {
	registry := prometheus.NewRegistry() // of its own: nothing that a library registers by itself
	all = append([]Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	}, all...)
	for _, c := range all {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	warnings := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	s := &Site{listener: l, ended: make(chan error, 1)}
	s.Unready("starting")
	mux := http.NewServeMux()
	page := func(path string, answer http.HandlerFunc) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			answer(w, r)
		})
	}
	page("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "/healthz\n/readyz\n/metrics\n")
	})
	page("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	page("/readyz", s.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: warnings, MaxRequestsInFlight: mostScrapes, Timeout: scrapeTime,
	}))
	s.server = web.NewServer(mux, web.Limits{Read: 5 * time.Second, Write: 30 * time.Second, HeaderBytes: 16 << 10,
		Strangers: 64, Log: log})
	go func() { s.ended <- s.server.Serve(l) }()
	return s, nil
}

func (s *Site) readyz(w http.ResponseWriter, _ *http.Request) {
	if why := s.unready.Load(); why != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, *why)
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

// Ready makes /readyz answer 200.
func (s *Site) Ready() {
	if s != nil {
		s.unready.Store(nil)
	}
}

// Unready makes /readyz answer 503 with the reason, such as "draining". So it does until the first Ready.
func (s *Site) Unready(reason string) {
	if s != nil {
		s.unready.Store(&reason)
	}
}

// URL returns the address of the site, such as "http://127.0.0.1:9090"; "" for nil.
func (s *Site) URL() string {
	if s == nil {
		return ""
	}
	return "http://" + s.listener.Addr().String()
}

// Close closes the site. It waits at most a second for requests in progress.
func (s *Site) Close() error {
	if s == nil {
		return nil
	}
	s.server.Stop()
	return <-s.ended
}
