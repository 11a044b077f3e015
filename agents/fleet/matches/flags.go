package matches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
)

// Flags are the flags of a command that plays a match.
type Flags struct {
	broker.Flags
	Dir string `name:"cluster-dir" help:"Key of the workers, and broker." default:"match" group:"Many machines"`
}

// A Session is a match that workers play; nil for one that this process plays.
type Session struct {
	host *Host
	site *broker.Site
	out  io.Writer
	stop context.CancelFunc
}

// logEvery is how often a session logs what its workers have done.
const logEvery = 10 * time.Second

// Start lets workers play m, if --cluster is given. b may be nil. What people should know is written to out. The caller
// must Close the session.
func (f *Flags) Start(ctx context.Context, m *match.Match, a Agent, b *Agent, out io.Writer, log *slog.Logger,
) (*Session, error) {
	if !f.Cluster.On {
		return nil, nil
	}
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return nil, err
	}
	site, err := f.Open(f.Dir, "blockyard match", log)
	if errors.Is(err, disk.ErrHeld) {
		return nil, fmt.Errorf("another match uses the folder %s: name another one with --cluster-dir", f.Dir)
	} else if err != nil {
		return nil, err
	}
	s := &Session{site: site, out: out}
	s.host, err = Start(ctx, site.Conn, m, a, b, Options{Folder: f.Dir, Limits: DefaultLimits, Log: log})
	if err != nil {
		return nil, errors.Join(err, site.Close(true))
	}
	ctx, s.stop = context.WithCancel(ctx)
	fmt.Fprintf(out, "match %s waits for workers; on each machine: %s\n", s.host.Run(), site.Join)
	go func() {
		for ; ctx.Err() == nil; pause(ctx, logEvery) {
			log.Info("match is played", "workers", s.host.Progress())
		}
	}()
	return s, nil
}

// Progress says in a line how many games each worker has played.
func (s *Session) Progress() string {
	if s == nil {
		return ""
	}
	return s.host.Progress()
}

// Close ends the match for its workers and writes who did what.
func (s *Session) Close() error {
	if s == nil {
		return nil
	}
	s.stop()
	err := s.host.Close()
	fmt.Fprint(s.out, fleet.Table(s.host.Workers()))
	return errors.Join(err, s.site.Close(true))
}
