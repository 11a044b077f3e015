// Package ops gives long-running commands what their operators need: health checks and metrics over HTTP, and
// structured logs. A command embeds Flags, starts a Site with what Metrics returns, and closes it. Without --http the
// Site is nil, and its methods do nothing.
//
// Metrics are named blockyard_PROGRAM_WHAT_UNIT. The unit is a base unit of Prometheus (seconds, bytes, ratio) or the
// noun that is counted (steps, games); counters end in _total. Values are read at a scrape, from counters.
//
// Nothing is served by default. The pages need no password and can only be read. They contain counts, limits, the names
// (not the secrets) of tokens and teams, and the Go version; no addresses of clients, no paths, no command line. An
// address must name its host, so a page is only public if someone wrote 0.0.0.0, [::] or the address of a network.
package ops

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"blockyard/datasets/program/web"
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

func newSite(log *slog.Logger, names web.Names, all []Collector) (*Site, error) {
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
	s := &Site{ended: make(chan error, 1)}
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
	page("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		answer := "ok"
		if why := s.unready.Load(); why != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			answer = *why
		}
		_, _ = fmt.Fprintln(w, answer)
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: warnings, MaxRequestsInFlight: mostScrapes, Timeout: scrapeTime,
	}))
	s.server = web.NewServer(mux, web.Limits{Read: 5 * time.Second, Write: 30 * time.Second, HeaderBytes: 16 << 10,
		Strangers: 64, Names: names, Log: log})
	return s, nil
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

// Flags are the flags of a command that runs for long. The tags are those of kong.
type Flags struct {
	HTTP      string    `name:"http" placeholder:"HOST:PORT" help:"Serve /healthz, /readyz and /metrics at this address."`
	Names     web.Names `name:"allowed-host" needs:"http|openenv|watch|teams" placeholder:"NAME" help:"Another host name."`
	LogFormat string    `enum:"text,json" default:"text" help:"Format of log lines: text or json."`
	LogLevel  string    `enum:"debug,info,warn,error" default:"info" help:"Least level: ${enum}."`
}

// Logger returns a logger of the level and format that the flags ask for, which writes lines to w.
func (f *Flags) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.LogLevel)) // kong has checked it; the zero value of the flags means info
	o := &slog.HandlerOptions{Level: level}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// Start opens the site of --http, nil without it; Close it. /metrics shows collectors, Go and the process.
func (f *Flags) Start(log *slog.Logger, collectors ...Collector) (*Site, error) {
	if f.HTTP == "" {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(f.HTTP)
	if err == nil && host == "" {
		err = errors.New("no host")
	}
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w: want HOST:PORT, such as 127.0.0.1:9090 for this machine alone "+
			"or 0.0.0.0:9090 for every network", f.HTTP, err)
	}
	s, err := newSite(log, f.Names, collectors)
	if err == nil {
		s.listener, err = net.Listen("tcp", f.HTTP)
	}
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", f.HTTP, err)
	}
	go func() { s.ended <- s.server.Serve(s.listener) }()
	if !web.OnLoopback(s.listener.Addr()) {
		log.Warn("anyone who reaches this address can read the metrics", "http", s.URL())
	}
	log.Info("health checks and metrics", "http", s.URL())
	return s, nil
}

// A Collector is metrics for Start.
type Collector = prometheus.Collector

// Info returns a metric that is always 1 and says in its labels what is to be known, such as the version.
func Info(name, help string, labels map[string]string) Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return 1 })
}

// Durations returns a histogram with buckets of 4 µs to 17 s, and what counts a duration in it.
func Durations(name, help string) (Collector, func(time.Duration)) {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help,
		Buckets: prometheus.ExponentialBuckets(4.096e-6, 2, 23)})
	return h, func(took time.Duration) { h.Observe(took.Seconds()) }
}

// Metrics returns what add adds at a scrape, in goroutines of the site. It should read from one snapshot.
func Metrics(prefix string, add func(*Scrape)) Collector { return &metrics{prefix, add} }

// metrics is a Collector whose values are computed when they are scraped; see Metrics.
type metrics struct {
	prefix string
	add    func(*Scrape)
}

// Describe implements Collector. It says nothing, because which labels there are is only known at a scrape.
func (*metrics) Describe(chan<- *prometheus.Desc) {}

func (m *metrics) Collect(to chan<- prometheus.Metric) { m.add(&Scrape{m.prefix, to}) }

// A Scrape takes the values of metrics at one moment; its methods must not be called later.
type Scrape struct {
	prefix string
	to     chan<- prometheus.Metric
}

// Add adds a number, or a time.Duration in seconds. Of labels, names and values alternate; _total ends a counter.
func (s *Scrape) Add(name, help string, value any, labels ...string) {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	number := reflect.ValueOf(value).Convert(reflect.TypeFor[float64]()).Float()
	if d, ok := value.(time.Duration); ok {
		number = d.Seconds()
	}
	var names, values []string
	for k := 0; k < len(labels); k += 2 {
		names, values = append(names, labels[k]), append(values, labels[k+1])
	}
	desc := prometheus.NewDesc(s.prefix+name, help, names, nil)
	s.to <- prometheus.MustNewConstMetric(desc, kind, number, values...)
}
