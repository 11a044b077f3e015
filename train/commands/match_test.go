//go:build unix

package commands

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/fleet/matches"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/train/games"

	"github.com/stretchr/testify/require"
)

// A match by three worker processes, one of which is killed while it plays, has the result of the match in one process.
func TestMatchOfWorkers(t *testing.T) {
	dir, g := t.TempDir(), games.BlockBattle
	newMatch := func() match.Match {
		m := match.Match{Rules: g.Rules, Units: 40, Seed: 1000}
		for _, name := range []string{"learned:ply=1", "hand:ply=1"} {
			f, err := bots.New(g.Rules, bots.Own(name))
			require.NoError(t, err)
			m.Players = append(m.Players, match.Player{Name: name, New: f})
		}
		return m
	}
	alone := newMatch()
	want, err := alone.Play(t.Context())
	require.NoError(t, err)
	at, first := freeAddress(), newHold()
	type played struct {
		*match.Report
		err error
	}
	ended := make(chan played, 1)
	go func() {
		together, log := newMatch(), slog.New(slog.DiscardHandler)
		f := matches.Flags{Flags: broker.Flags{Listen: at}, Dir: dir}
		f.Cluster.On = true
		together.Progress = func(int, string) { first.await() }
		session, err := f.Start(t.Context(), &together, []string{together.Players[0].Name, together.Players[1].Name}, io.Discard, log)
		if err != nil {
			ended <- played{err: err}
			return
		}
		got, err := together.Play(t.Context())
		ended <- played{got, errors.Join(err, session.Close(true))}
	}()
	join := killedWorker(t, dir, at, first)
	startWorker(t, "second", at, join)
	startWorker(t, "third", at, join)
	got := <-ended
	require.NoError(t, got.err)
	require.Equal(t, want, got.Report)
}

// A hold keeps a match or league from its end until a worker that has played a game of it is killed.
type hold struct {
	once           sync.Once
	played, killed chan struct{}
}

func newHold() *hold { return &hold{played: make(chan struct{}), killed: make(chan struct{})} }

// await is called when a game of a worker has been counted.
func (h *hold) await() {
	h.once.Do(func() {
		close(h.played)
		<-h.killed
	})
}

// killedWorker kills a worker that has played and plays, and returns how others join.
func killedWorker(t *testing.T, dir, at string, first *hold) (join []string) {
	key := filepath.Join(dir, "worker.nk")
	require.Eventually(t, func() bool { _, err := os.Stat(key); return err == nil }, time.Minute, 10*time.Millisecond)
	join = []string{"join", "nats://" + at, "--creds", key}
	killed := startWorker(t, "killed", at, join)
	select {
	case <-first.played:
	case <-time.After(5 * time.Minute):
		t.Error("nobody has played a game")
	}
	killed.kill()
	close(first.killed)
	return join
}

// here plays what workers cannot have, and counts that.
type here struct {
	g     *env.Game
	games atomic.Int64
	names func(number int) string
}

func (h *here) Play(ctx context.Context, p *match.Played) (*record.Record, error) {
	h.games.Add(1)
	seed, err := strconv.ParseUint(p.Seed, 10, 64)
	if err != nil {
		return nil, err
	}
	rec, err := match.Play(ctx, match.Game{Rules: h.g, Seed: seed, Names: []string{h.names(p.Seats[0]), h.names(p.Seats[1])},
		Agents: []env.Agent{search.NewRandom(seed), search.NewFirst()}})
	if err == nil {
		p.Note(rec.Scores, rec.Results, len(rec.Choices), rec.Stopped)
		p.UsedMS, p.MostMS = make([]float64, 2), make([]float64, 2)
	}
	return rec, err
}

// TestLeagueOfWorkers: workers play the games between agents of a league, with weights that only this machine has. One is
// killed while it plays, and every game is played once. Those of a program are played here, and it is not sent.
func TestLeagueOfWorkers(t *testing.T) {
	dir, g, at := t.TempDir(), games.BlockBattle.Rules, freeAddress()
	weights := filepath.Join(dir, "w.json")
	require.NoError(t, os.WriteFile(weights, blockbattlebot.Entry.Baseline.Format(blockbattlebot.Tuned[:]), 0o600))
	journal, err := tournament.OpenJournal(dir)
	require.NoError(t, err)
	const most = 200
	l := &tournament.League{Dir: dir, Limit: most, Here: 1, Tell: func(string, ...any) {},
		Tournament: &tournament.Tournament{Journal: journal,
			Config: tournament.Config{Format: tournament.Ongoing, Seats: 2, Games: 2, Rules: g, Workers: 20}}}
	local := &here{g: g, names: func(number int) string { return l.Entrants[number].Agent }}
	l.List = func() (list []*bots.Agent, err error) {
		for _, text := range []string{"random", "hand:ply=1", "mine=hand:weights=" + weights + ",ply=1", "program=exec:true"} {
			a, err := bots.Parse(g, bots.Own(text))
			require.NoError(t, err)
			list = append(list, a)
		}
		return list, nil
	}
	l.Ready = func(context.Context, *tournament.Entrant, []*tournament.Entrant) error { return nil }
	shared := &matches.Shared{Here: local, Agent: func(number int) (match.Player, bool) { return l.Entrants[number].Ours() }}
	l.Runner = shared
	l.Away = func(number int) bool { _, ours := l.Entrants[number].Ours(); return ours }
	require.NoError(t, journal.Begin(&l.Config, "", nil))
	f := matches.Flags{Flags: broker.Flags{Listen: at}, Dir: filepath.Join(dir, "cluster")}
	f.Cluster.On = true
	session, err := f.Share(t.Context(), shared, g, 1, io.Discard, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	first, ended := newHold(), make(chan error, 1)
	l.Changed = func(*tournament.Tournament) error {
		if slices.ContainsFunc(session.Workers(), func(w fleet.WorkerRow) bool { return w.Tasks > 0 }) {
			first.await()
		}
		return nil
	}
	go func() { ended <- errors.Join(l.Play(t.Context()), session.Close(true)) }()
	join := killedWorker(t, f.Dir, at, first)
	startWorker(t, "second", at, join)
	require.NoError(t, <-ended)
	require.NoError(t, journal.Close())

	ofProgram, names := 0, map[string]bool{}
	for k, p := range l.Played {
		require.Equal(t, k, p.Number)
		require.Empty(t, p.Void)
		for _, e := range p.Seats {
			if names[l.Entrants[e].Name] = true; l.Entrants[e].Name == "program" {
				ofProgram++
			}
		}
	}
	require.Len(t, l.Played, most)
	require.Len(t, names, 4)
	require.EqualValues(t, ofProgram, local.games.Load())
	again, err := tournament.OpenJournal(dir)
	require.NoError(t, err)
	fresh := &tournament.Tournament{Config: l.Config, Entrants: l.Entrants, Journal: again, Over: true}
	require.NoError(t, again.Begin(&fresh.Config, "", fresh.Entrants))
	fresh.Played, fresh.Expected = again.Played, most
	require.Equal(t, l.Report(), fresh.Report())
	require.NoError(t, again.Close())
}
