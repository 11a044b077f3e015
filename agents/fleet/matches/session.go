package matches

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
	"blockyard/datasets/record"
)

// Flags are the flags of a command that plays a match.
type Flags struct {
	broker.Flags
	Dir string `name:"cluster-dir" help:"Key of the workers, and broker." default:"match" group:"Many machines"`
}

type session struct {
	*fleet.Session
	match *match.Match
}

const (
	mostUnits = 4096             // are under way at a time
	logEvery  = 10 * time.Second // what workers have done
)

// Start lets workers play m, if --cluster is given: it sets m.Remote and m.Workers. The texts are those of A, and of B
// if there is a B, on this command line. What people should know goes to out. The caller must Close the session.
func (f *Flags) Start(ctx context.Context, m *match.Match, texts []string, out io.Writer, log *slog.Logger,
) (*fleet.Session, error) {
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
	s, err := serve(ctx, site, m, texts, fleet.Options{Folder: f.Dir, Log: log}, fleet.DefaultLimits)
	if err != nil {
		return nil, errors.Join(err, site.Close(true))
	}
	fmt.Fprintf(out, "match %s waits for workers; on each machine: %s\n", s.Run(), site.Join)
	s.Out = out
	go func() {
		for {
			log.Info("match is played", "workers", s.Progress())
			select {
			case <-s.Failed():
				return
			case <-time.After(logEvery):
			}
		}
	}()
	return s.Session, nil
}

func serve(ctx context.Context, site *broker.Site, m *match.Match, texts []string, o fleet.Options,
	limits fleet.Limits) (*session, error) {
	sp := spec{Table: m.Rules.Table, Seats: m.GameSeats(), Cap: m.Cap, Steps: m.Steps}
	var files [][]byte
	for k, text := range texts {
		p, err := pack(m.Rules, m.Players[k].Name, text, &files)
		if err != nil {
			return nil, err
		}
		sp.Players = append(sp.Players, p)
	}
	ours, err := facts(m.Rules)
	if err != nil {
		return nil, err
	}
	if sp.Check, err = selfTest(ctx, m); err != nil {
		return nil, err
	}
	o.Noun, o.Jobs = "unit", min(m.Units, mostUnits)
	server, err := fleet.Serve(ctx, site, fleet.Run{
		ID: strings.ToLower(rand.Text()[:10]), Kind: Kind, Game: m.Rules.Name, Once: true,
		Limits: limits, Facts: ours, Spec: fleet.JSON(sp),
	}, o)
	if err != nil {
		return nil, err
	}
	for _, data := range files {
		if _, e := server.Objects.Put(ctx, data); e != nil && err == nil {
			err = fmt.Errorf("storing weights: %w", e)
		}
	}
	if err == nil {
		err = server.Open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, server.Close(true))
	}
	s := &session{&fleet.Session{Server: server, Site: site, Out: io.Discard}, m}
	m.Remote, m.Workers = s.Play, o.Jobs
	return s, nil
}

// Play plays a unit by a worker; see match.Match.Remote.
func (s *session) Play(ctx context.Context, u match.Unit) ([]*record.Record, error) {
	var games []*record.Record
	played := make(chan struct{})
	job := &fleet.Job{ID: strconv.Itoa(u.Index), Spec: u, Done: func() { close(played) }}
	job.Take = func(r *fleet.Result) (n, moves int, err error) {
		games, err = s.check(u, r.Data)
		for _, g := range games {
			moves += len(g.Choices)
		}
		return len(games), moves, err
	}
	defer s.Withdraw(job)
	if err := s.Submit(ctx, job); err != nil {
		return nil, err
	}
	select {
	case <-played:
		return games, nil
	case <-s.Failed():
		return nil, s.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// check reads the records of a unit. It returns an error if they are not those of its games.
func (s *session) check(u match.Unit, data []byte) (games []*record.Record, err error) {
	if err := json.Unmarshal(data, &games); err != nil {
		return nil, fmt.Errorf("unit %d: %w", u.Index, err)
	}
	if len(games) != len(u.Games) {
		return nil, fmt.Errorf("unit %d: %d games, want %d", u.Index, len(games), len(u.Games))
	}
	for k, rec := range games {
		names := make([]string, len(u.Games[k]))
		for seat, e := range u.Games[k] {
			names[seat] = s.match.Name(e)
		}
		want := record.New(s.match.Rules, u.Seed, names)
		if rec == nil || rec.Seed != want.Seed || rec.Seats != want.Seats || !slices.Equal(rec.Agents, want.Agents) ||
			len(rec.Draws) > 0 || !bytes.Equal(rec.Start, u.Start) {
			return nil, fmt.Errorf("unit %d: game %d is another one", u.Index, k)
		}
		if err := errors.Join(rec.Validate(), record.Check(s.match.Rules, rec)); err != nil {
			return nil, fmt.Errorf("unit %d: game %d: %w", u.Index, k, err)
		}
	}
	return games, nil
}
