// Package matches lets worker processes play the games of a match; see package fleet. The result is bit-identical to
// that of the same match in one process.
//
// A job is one unit of the match, such as a pair of games. Its result is the records of these games, which are
// replayed before they count. A worker is refused if its rules, features or shipped weights differ, or its moves in a
// test game. Agents that depend on a clock or on a program of one machine are refused when the match starts. An
// interrupted match cannot be continued.
package matches

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
)

// Kind is the name by which workers know that a run is a match.
const Kind = "match"

// A spec is what a worker needs to know of a match, besides the facts.
type spec struct {
	Table   []string       `json:"table,omitempty"` // of the game; see env.Game
	Check   string         `json:"check"`           // SHA-256 of the self-test
	Players []match.Player `json:"players"`         // A and B, if there is a B
	Seats   int            `json:"seats"`           // of every game
	Cap     int            `json:"cap"`
	Steps   int            `json:"steps"`
}

// pack describes an agent of this command line as workers are told: nothing that could start a program, and weights
// named by content, which are added to files.
func pack(g *env.Game, name, text string, files *[][]byte) (match.Player, error) {
	p := match.Player{Name: name}
	agent, err := bots.Parse(g, bots.Own(text))
	if err != nil {
		return p, err
	}
	spec, weights, data, err := agent.Portable()
	if errors.Is(err, bots.ErrUntrusted) {
		return p, fmt.Errorf("agent %.80q: it is a program of this machine, which workers do not have: "+
			"play this match without --cluster", text)
	} else if err != nil {
		return p, err
	}
	if p.Spec = spec; weights != "" {
		*files = append(*files, data)
	}
	f, err := agent.Factory()
	var made env.Agent
	if err == nil {
		made, err = f(0)
	}
	if r, ok := made.(vec.Resumable); ok && err == nil {
		if _, err = r.AppendMemory(nil); err != nil {
			err = fmt.Errorf("agent %.80q: %w", text, err)
		}
	}
	return p, err
}

// facts are what a worker must have like the process of the match.
func facts(g *env.Game) (map[string]string, error) {
	var file []byte
	var hand []float32
	e, features := bots.Of(g), "none"
	if e.Learned != nil {
		var err error
		if file, err = fs.ReadFile(e.Learned.Files, e.Learned.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if e.Baseline != nil {
		hand = e.Baseline.Weights
	}
	if f := bots.Features(g); f != nil {
		features = fleet.Hash(f.Names)
	}
	return map[string]string{
		"rules of " + g.Name + " in version":       strconv.Itoa(g.Rules),
		"features of " + g.Name + " with the hash": features,
		"weights of " + g.Name + " with the hash":  fleet.Hash(hand, file),
	}, nil
}

// selfTestSteps are enough for every player of every seat to have moved.
const selfTestSteps = 6

// selfTest plays the first steps of a unit's games and returns the SHA-256 of moves and evaluations.
func selfTest(ctx context.Context, m *match.Match) (string, error) {
	short, u := *m, match.Unit{Seed: 0x73656c66}
	short.Steps, short.Cap = selfTestSteps, 0
	lineup := make([]match.Entrant, m.GameSeats())
	for k := range lineup {
		lineup[k] = match.Entrant{Player: min(k, 1), Stream: uint64(k)}
	}
	u.Games = append(u.Games, lineup)
	if len(lineup) == 1 && len(m.Players) == 2 {
		u.Games = append(u.Games, []match.Entrant{{Player: 1}})
	}
	records, err := short.PlayUnit(ctx, u)
	if err != nil {
		return "", fmt.Errorf("self-test: %w", err)
	}
	return fleet.Hash(records), nil
}

// Open is the fleet.Kind by which workers play matches.
func Open(ctx context.Context, r *fleet.Run, get fleet.Get) (fleet.NewPlayer, error) {
	var s spec
	if err := json.Unmarshal(r.Spec, &s); err != nil {
		return nil, fmt.Errorf("match %s: %w", r.ID, err)
	}
	g, err := games.Recorded(r.Game, s.Table)
	if err != nil {
		return nil, fmt.Errorf("match %s: %w: run the same program", r.ID, err)
	}
	ours, err := facts(g)
	if err != nil {
		return nil, err
	}
	if err := r.Agree(ours); err != nil {
		return nil, err
	}
	if len(s.Players) < 1 || len(s.Players) > 2 {
		return nil, fmt.Errorf("match %s: %d players, want 1 or 2", r.ID, len(s.Players))
	}
	m := &match.Match{Rules: g, Seats: s.Seats, Cap: s.Cap, Steps: s.Steps}
	weights := func(name string) ([]byte, error) { return get(ctx, strings.TrimPrefix(name, bots.ContentPrefix)) }
	ready := func(list []match.Player) (err error) {
		for k := 0; k < len(list) && err == nil; k++ {
			list[k].New, err = bots.New(g, bots.Foreign(list[k].Spec, weights))
		}
		return err
	}
	if err := ready(s.Players); err != nil {
		return nil, fmt.Errorf("match %s: %w", r.ID, err)
	}
	m.Players = s.Players
	check, err := selfTest(ctx, m)
	if err == nil {
		err = r.AgreeSelfTest("the match", s.Check, check)
	}
	return func() (fleet.Player, error) { return unitPlayer(m, ready), nil }, err
}

// unitPlayer plays units of a match, whose own players get ready first.
func unitPlayer(m *match.Match, ready func([]match.Player) error) fleet.Player {
	return func(ctx context.Context, text json.RawMessage) (*fleet.Result, error) {
		var u match.Unit
		err := json.Unmarshal(text, &u)
		if err == nil {
			err = ready(u.Players)
		}
		if err != nil {
			return nil, err
		}
		records, err := m.PlayUnit(ctx, u)
		return &fleet.Result{Data: fleet.JSON(records), Games: len(records), Moves: choices(records)}, err
	}
}

func choices(games []*record.Record) (n int) {
	for _, g := range games {
		n += len(g.Choices)
	}
	return n
}

// Flags are the flags of a command whose match workers may play.
type Flags struct {
	broker.Flags
	Dir string `name:"cluster-dir" needs:"cluster" help:"${cluster_dir}" default:"match" group:"Many machines"`
}

// A session is a match that workers play, in the process that counts its games.
type session struct {
	*fleet.Session
	match *match.Match
}

const (
	mostUnits = 4096             // are under way at a time
	logEvery  = 10 * time.Second // what workers have done
)

// Start lets workers play m, if --cluster is given: it sets m.Remote and m.Workers. texts are the specs of A and, if
// there is one, B. Messages for people go to out. The caller must Close the session.
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
	s := &session{&fleet.Session{Server: server, Site: site, Out: io.Discard}, m}
	if err = s.store(ctx, files); err == nil {
		err = server.Open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, server.Close(true))
	}
	m.Remote, m.Workers = s.Play, o.Jobs
	return s, nil
}

// ErrHere says that workers cannot have a player of a unit.
var ErrHere = errors.New("it plays on this machine only")

// Play plays a unit by a worker; see match.Match.Remote.
func (s *session) Play(ctx context.Context, u match.Unit) (games []*record.Record, err error) {
	var files [][]byte
	u.Players = slices.Clone(u.Players)
	for k, p := range u.Players {
		if u.Players[k], err = pack(s.match.Rules, p.Name, p.Spec, &files); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrHere, err)
		}
	}
	if err := s.store(ctx, files); err != nil {
		return nil, err
	}
	played := make(chan struct{})
	job := &fleet.Job{ID: strconv.Itoa(u.Index), Spec: u, Done: func() { close(played) }}
	job.Take = func(r *fleet.Result) (err error) {
		games, err = s.check(u, r.Data)
		r.Games, r.Moves = len(games), choices(games)
		return err
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

// store lets workers get the weights of players.
func (s *session) store(ctx context.Context, files [][]byte) error {
	for _, data := range files {
		if _, err := s.Objects.Put(ctx, data); err != nil {
			return fmt.Errorf("storing weights: %w", err)
		}
	}
	return nil
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
			names[seat] = s.match.Of(u).Players[e.Player].Name
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
