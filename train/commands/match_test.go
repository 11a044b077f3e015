//go:build unix

package commands

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/fleet/matches"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/train/games"

	"github.com/stretchr/testify/require"
)

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
	shortLimits(t)
	dir, g := t.TempDir(), games.BlockBattle.Rules
	weights := filepath.Join(dir, "w.json")
	writeWeights(t, weights)
	journal := envtest.Must(tournament.OpenJournal(dir))
	const most = 200
	l := &tournament.League{Dir: dir, Limit: most, Here: 1, Tell: func(string, ...any) {},
		Tournament: &tournament.Tournament{Journal: journal,
			Config: tournament.Config{Format: tournament.Ongoing, Seats: 2, Games: 2, Rules: g, Workers: 20}}}
	local := &here{g: g, names: func(number int) string { return l.Entrants[number].Agent }}
	l.List = func() (list []*bots.Agent, err error) {
		for _, text := range []string{"random", "hand:ply=1", "mine=hand:weights=" + weights + ",ply=1", "program=exec:true"} {
			a := envtest.Must(bots.Parse(g, bots.Own(text)))
			list = append(list, a)
		}
		return list, nil
	}
	l.Ready = func(context.Context, *tournament.Entrant, []*tournament.Entrant) error { return nil }
	shared := &matches.Shared{Here: local, Agent: func(number int) (match.Player, bool) { return l.Entrants[number].Ours() }}
	l.Runner = shared
	l.Away = func(number int) bool { _, ours := l.Entrants[number].Ours(); return ours }
	require.NoError(t, journal.Begin(&l.Config, "", nil))
	f := matches.Flags{Flags: broker.Flags{Listen: "127.0.0.1:0"}, Dir: filepath.Join(dir, "cluster")}
	f.Cluster.On = true
	session := envtest.Must(f.Share(t.Context(), shared, g, 1, io.Discard, slog.New(slog.DiscardHandler)))
	var once sync.Once
	played, killed, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	l.Changed = func(*tournament.Tournament) error {
		if slices.ContainsFunc(session.Workers(), func(w fleet.WorkerRow) bool { return w.Tasks > 0 }) {
			once.Do(func() {
				close(played)
				<-killed // before this worker has played all games
			})
		}
		return nil
	}
	go func() { ended <- errors.Join(l.Play(t.Context()), session.Close(true)) }()
	join := strings.Fields(session.Site.Join)[1:]
	first := startWorker(t, "killed", join)
	<-played
	first.kill()
	close(killed)
	startWorker(t, "second", join)
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
	again := envtest.Must(tournament.OpenJournal(dir))
	fresh := &tournament.Tournament{Config: l.Config, Entrants: l.Entrants, Journal: again, Over: true}
	require.NoError(t, again.Begin(&fresh.Config, "", fresh.Entrants))
	fresh.Played, fresh.Expected = again.Played, most
	require.Equal(t, l.Report(), fresh.Report())
	require.NoError(t, again.Close())
}
