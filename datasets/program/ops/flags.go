package ops

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"blockyard/datasets/program/web"
)

// LogFlags are the flags of a command that logs. The tags are those of kong.
type LogFlags struct {
	LogFormat string `enum:"text,json" default:"text" help:"Format of log lines: text or json."`
	LogLevel  string `enum:"debug,info,warn,error" default:"info" help:"Least level to log: debug, info, warn or error."`
}

// Flags are the flags of a command that runs for long.
type Flags struct {
	HTTP string `name:"http" placeholder:"HOST:PORT" help:"Serve /healthz, /readyz and /metrics on this address."`
	LogFlags
}

// Logger returns a logger that writes lines to w.
func (f *LogFlags) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.LogLevel)) // kong has checked it; the zero value of the flags means info
	o := &slog.HandlerOptions{Level: level}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// Start opens the site of --http, and returns nil without that flag. The caller must Close it. /metrics shows
// the collectors, the Go runtime and the process.
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
	l, err := net.Listen("tcp", f.HTTP)
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", f.HTTP, err)
	}
	s, err := newSite(l, log, collectors)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--http %s: %w", f.HTTP, err), l.Close())
	}
	if !web.OnLoopback(l.Addr()) {
		log.Warn("anyone who reaches this address can read the metrics", "http", s.URL())
	}
	log.Info("health checks and metrics", "http", s.URL())
	return s, nil
}
