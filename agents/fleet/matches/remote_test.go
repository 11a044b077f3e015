package matches

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
)

var quiet = slog.New(slog.DiscardHandler)

// long is how long tests wait for an event that will come.
const long = 2 * time.Minute

// newMatch is a match between two agents, and its records as JSON.
func newMatch(game, a, b string, units int) (*match.Match, *strings.Builder) {
	g := envtest.Must(games.Lookup(game))
	lines := new(strings.Builder)
	m := &match.Match{Rules: g, Units: units, Seed: 7, Record: func(r *record.Record) error {
		return json.NewEncoder(lines).Encode(r)
	}}
	for _, text := range []string{a, b} {
		agent := envtest.Must(bots.Parse(g, bots.Own(text)))
		m.Players = append(m.Players, match.Player{Name: agent.Recorded(), Spec: text, New: envtest.Must(agent.Factory())})
	}
	return m, lines
}

// start lets workers play m.
func start(t *testing.T, m *match.Match, limits fleet.Limits) *session {
	f := broker.Flags{Listen: "127.0.0.1:0"}
	dir := t.TempDir()
	site := envtest.Must(f.Open(dir, "test", quiet))
	s := envtest.Must(serve(t.Context(), site, m, []string{m.Players[0].Spec, m.Players[1].Spec},
		fleet.Options{Folder: dir, Log: quiet}, limits))
	return s
}

// work starts a worker, which plays by kind.
func (s *session) work(ctx context.Context, name string, kind fleet.Kind) <-chan error {
	left := make(chan error, 1)
	o := fleet.WorkerOptions{Name: name, Threads: 1, Kinds: map[string]fleet.Kind{Kind: kind},
		Counts: new(fleet.WorkerCounts), Log: quiet}
	go func() { left <- fleet.Work(ctx, s.Site.Conn, o) }()
	return left
}

// Results and records are those of a match without workers, byte for byte: from a book with weights of the user's, of
// one seat, and of more than two, even if a worker sends something else.
func TestSameMatch(t *testing.T) {
	shipped := bots.Of(envtest.Must(games.Lookup("blockbattle"))).Learned
	weights := envtest.File(t, "net.safetensors", envtest.Must(io.ReadAll(envtest.Must(shipped.Files.Open(shipped.File)))))
	liar := func(context.Context, *fleet.Run, fleet.Get) (fleet.NewPlayer, error) {
		return func() (fleet.Player, error) {
			return func(context.Context, json.RawMessage) (*fleet.Result, error) {
				return &fleet.Result{Data: []byte("[]")}, nil
			}, nil
		}, nil
	}
	for game, c := range map[string]struct {
		player string
		change func(*match.Match)
	}{
		"blockbattle": {"learned:ply=1,weights=" + weights, func(m *match.Match) {
			m.Book = match.Book{envtest.Must(env.Encode(nil, m.Rules.New(2)))}
		}},
		"wintetris": {"me=hand", func(m *match.Match) { m.Skip, m.Steps = 3, 40 }},
		"blocking":  {"me=hand", func(m *match.Match) { m.Seats = 3 }},
	} {
		alone, want := newMatch(game, c.player, "random", 6)
		c.change(alone)
		local := envtest.Must(alone.Play(t.Context()))

		together, got := newMatch(game, c.player, "random", 6)
		c.change(together)
		s := start(t, together, fleet.Limits{AckWait: 2 * time.Second, Deliveries: 100})
		remote := make(chan *match.Report, 1)
		go func() { remote <- envtest.Must(together.Play(t.Context())) }()
		require.ErrorIs(t, <-s.work(t.Context(), "liar", liar), fleet.ErrRefused)
		first, second := s.work(t.Context(), "first", Open), s.work(t.Context(), "second", Open)
		require.Equal(t, local, <-remote, game)
		require.Equal(t, want.String(), got.String(), game)
		counted := 0
		for _, w := range s.Workers() {
			counted += w.Games
		}
		require.Equal(t, strings.Count(want.String(), "\n"), counted, "every game counts once")
		require.NoError(t, s.Close(true))
		require.NoError(t, errors.Join(<-first, <-second))
	}
}

// A worker that cannot play as the process of the match would is refused with the reason, and that process learns it.
func TestRefusedWorkers(t *testing.T) {
	m, _ := newMatch("blockbattle", "hand:ply=1", "random", 1)
	s := start(t, m, fleet.DefaultLimits)
	changed := func(change func(*fleet.Run, *spec)) fleet.Kind {
		return func(ctx context.Context, r *fleet.Run, get fleet.Get) (fleet.NewPlayer, error) {
			var sp spec
			require.NoError(t, json.Unmarshal(r.Spec, &sp))
			change(r, &sp)
			r.Spec = fleet.JSON(sp)
			return Open(ctx, r, get)
		}
	}
	for says, change := range map[string]func(*fleet.Run, *spec){
		"rules of blockbattle in version 99":         func(r *fleet.Run, _ *spec) { r.Facts["rules of blockbattle in version"] = "99" },
		"features of blockbattle with the hash beef": func(r *fleet.Run, _ *spec) { r.Facts["features of blockbattle with the hash"] = "beef" },
		"weights of blockbattle with the hash beef":  func(r *fleet.Run, _ *spec) { r.Facts["weights of blockbattle with the hash"] = "beef" },
		"its self-test of the match gives":           func(_ *fleet.Run, s *spec) { s.Check = "beef" },
		"sampling or moves differ":                   func(_ *fleet.Run, s *spec) { s.Check = "beef" },
		`no game "chess"`:                            func(r *fleet.Run, _ *spec) { r.Game = "chess" },
		`agent "exec:true": reads files or runs`:     func(_ *fleet.Run, s *spec) { s.Players = []match.Player{{Spec: "exec:true"}} },
		`weights=/etc/passwd": reads files or runs`:  func(_ *fleet.Run, s *spec) { s.Players = []match.Player{{Spec: "hand:weights=/etc/passwd"}} },
		"0 players, want 1 or 2":                     func(_ *fleet.Run, s *spec) { s.Players = nil },
	} {
		err := <-s.work(t.Context(), "other", changed(change))
		require.ErrorIs(t, err, fleet.ErrRefused, says)
		require.ErrorContains(t, err, says)
	}
	require.Eventually(t, func() bool {
		return len(s.Workers()) == 1 && s.Workers()[0].State == fleet.Refused
	}, long, 10*time.Millisecond)
	require.Contains(t, s.Progress(), "nobody plays: all 1 workers were refused")
	require.NoError(t, s.Close(true))
}

// Agents whose play would depend on the machine are refused when the match starts.
func TestRefusedAgents(t *testing.T) {
	g := envtest.Must(games.Lookup("blockbattle"))
	for text, says := range map[string]string{
		"hand:time=50ms":        "depend on the clock",
		"exec:cat":              "a program of this machine",
		"learned:weights=/no/n": "no such file",
	} {
		require.ErrorContains(t, envtest.Failed(pack(g, text, text, new([][]byte))), says)
	}
}

// A unit that fails in every worker is kept in a file and ends the match.
func TestUnitThatFails(t *testing.T) {
	m, _ := newMatch("blockbattle", "random", "random", 2)
	s := start(t, m, fleet.Limits{AckWait: time.Minute, Deliveries: 3})
	broken := func(context.Context, *fleet.Run, fleet.Get) (fleet.NewPlayer, error) {
		b := *m
		b.Players = []match.Player{{Name: "random", New: func(uint64) (env.Agent, error) { panic("out of order") }}, m.Players[1]}
		return func() (fleet.Player, error) { return unitPlayer(&b, func([]match.Player) error { return nil }), nil }, nil
	}
	left := s.work(t.Context(), "fragile", broken)
	_, err := m.Play(t.Context())
	require.ErrorContains(t, err, "was given to workers 3 times and has no result: worker fragile says: panic: out of order")
	require.Regexp(t, "^unit [01] ", err.Error())
	_, key, _ := strings.Cut(s.Site.Join, "--creds ")
	require.NotEmpty(t, envtest.Must(filepath.Glob(filepath.Join(filepath.Dir(key), "failed-unit-[01].json"))))
	require.NoError(t, s.Close(true))
	require.NoError(t, <-left)
}

// Records of a unit that do not replay, or are those of another one, are refused.
func TestRecordsAreReplayed(t *testing.T) {
	m, _ := newMatch("blockbattle", "random", "random", 1)
	s := &session{match: m}
	u := match.Unit{Seed: 7, Games: [][]match.Entrant{{{}, {Player: 1}}}}
	games := envtest.Must(m.PlayUnit(t.Context(), u))
	envtest.Must(s.check(u, fleet.JSON(games)))
	games[0].Scores[0]++
	require.ErrorIs(t, envtest.Failed(s.check(u, fleet.JSON(games))), record.ErrDiffers)
	games[0].Scores[0]--
	games[0].Seed++
	require.ErrorContains(t, envtest.Failed(s.check(u, fleet.JSON(games))), "is another one")
}
