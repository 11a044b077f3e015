package matches

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
)

var quiet = slog.New(slog.DiscardHandler)

// long is how long tests wait for an event that will come.
const long = 2 * time.Minute

// newMatch is a match between two agents, and its records as JSON.
func newMatch(t *testing.T, game, a, b string, units int) (*match.Match, *strings.Builder) {
	t.Helper()
	g, err := games.Lookup(game)
	require.NoError(t, err)
	lines := new(strings.Builder)
	m := &match.Match{Rules: g, Units: units, Seed: 7, Record: func(r *record.Record) error {
		return json.NewEncoder(lines).Encode(r)
	}}
	for _, text := range []string{a, b} {
		agent, err := bots.Parse(g, bots.Own(text))
		require.NoError(t, err)
		f, err := agent.Factory()
		require.NoError(t, err)
		m.Players = append(m.Players, match.Player{Name: agent.Recorded(), Spec: text, New: f})
	}
	return m, lines
}

// start lets workers play m.
func start(t *testing.T, m *match.Match, limits fleet.Limits) *session {
	t.Helper()
	f := broker.Flags{Listen: "127.0.0.1:0"}
	dir := t.TempDir()
	site, err := f.Open(dir, "test", quiet)
	require.NoError(t, err)
	s, err := serve(t.Context(), site, m, []string{m.Players[0].Spec, m.Players[1].Spec},
		fleet.Options{Folder: dir, Log: quiet}, limits)
	require.NoError(t, err)
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

// shippedWeights returns a file with the shipped weights of Block Battle.
func shippedWeights(t *testing.T) string {
	t.Helper()
	weights := filepath.Join(t.TempDir(), "net.safetensors")
	g, err := games.Lookup("blockbattle")
	require.NoError(t, err)
	e := bots.Of(g)
	data, err := readShipped(e.Learned.Files.Open(e.Learned.File))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(weights, data, 0o600))
	return weights
}

// Results and records are those of a match without workers, also from a book, byte for byte, whatever is lost, repeated or damaged.
func TestSameMatch(t *testing.T) {
	a := "learned:ply=1,weights=" + shippedWeights(t)
	alone, want := newMatch(t, "blockbattle", a, "hand:ply=1", 12)
	fresh := alone.Rules.New(2)
	fresh.Reset(5)
	position, err := env.Encode(nil, fresh)
	require.NoError(t, err)
	alone.Book = match.Book{position}
	local, err := alone.Play(t.Context())
	require.NoError(t, err)

	together, got := newMatch(t, "blockbattle", a, "hand:ply=1", 12)
	together.Book = alone.Book
	m := start(t, together, fleet.Limits{AckWait: 2 * time.Second, Deliveries: 100})
	ctx := t.Context()
	js, err := jetstream.New(m.Site.Conn)
	require.NoError(t, err)
	queue, err := js.Consumer(ctx, "blockyard-"+m.Run()+"-1-tasks", "workers")
	require.NoError(t, err)
	ended := make(chan *match.Report, 1)
	go func() {
		r, err := together.Play(ctx)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	answer := func(id, data string) {
		h := nats.Header{"Blockyard-Result": {`{"job":"` + id + `","worker":"lost"}`}}
		_, err := js.PublishMsg(ctx, &nats.Msg{Subject: "blockyard." + m.Run() + ".1.results", Header: h, Data: []byte(data)})
		require.NoError(t, err)
	}
	for n := range 3 { // a worker that takes units, and is lost or answers with damaged results
		msg, err := queue.Next(jetstream.FetchMaxWait(long))
		require.NoError(t, err)
		var job struct {
			ID   string
			Spec match.Unit
		}
		require.NoError(t, json.Unmarshal(msg.Data(), &job))
		records, err := together.PlayUnit(ctx, job.Spec)
		require.NoError(t, err)
		records[0].Results[0] = 1 - records[0].Results[0]
		switch n {
		case 1:
			answer(job.ID, string(fleet.JSON(records)))
		case 2:
			answer(job.ID, string(fleet.JSON(records[:1])))
			require.NoError(t, msg.Ack())
		}
	}
	answer("0", "hello")
	first, second := m.work(ctx, "first", Open), m.work(ctx, "second", Open)
	remote := <-ended
	require.Equal(t, local, remote)
	require.Equal(t, want.String(), got.String())
	answer("0", "late")
	require.Eventually(t, func() bool { return len(m.Workers()) == 3 && m.Workers()[1].Dropped > 0 }, long, time.Millisecond)
	rows := m.Workers()
	require.Equal(t, "lost", rows[1].Name)
	require.Zero(t, rows[1].Games)
	require.Equal(t, 24, rows[0].Games+rows[2].Games, "every game counts once")
	require.NoError(t, m.Close(true))
	require.NoError(t, <-first)
	require.NoError(t, <-second)
}

func readShipped(f io.ReadCloser, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Matches of one seat, and of more than two, have the same result too, and so have those with names of the user's.
func TestOtherNumbersOfSeats(t *testing.T) {
	for _, game := range []string{"wintetris", "blocking"} {
		t.Run(game, func(t *testing.T) {
			var texts, records []string
			for _, remote := range []bool{false, true} {
				m, lines := newMatch(t, game, "me=hand", "random", 2)
				if game == "wintetris" {
					m.Skip, m.Steps = 3, 40
				} else {
					m.Seats = 3
				}
				s := new(session) // of a match that no workers play
				if remote {
					s = start(t, m, fleet.DefaultLimits)
					s.work(t.Context(), "only", Open)
				}
				r, err := m.Play(t.Context())
				require.NoError(t, err)
				texts, records = append(texts, r.String()), append(records, lines.String())
				require.NoError(t, s.Close(true))
			}
			require.Equal(t, texts[0], texts[1])
			require.Equal(t, records[0], records[1])
		})
	}
}

// A worker that cannot play as the process of the match would is refused with the reason, and that process learns it.
func TestRefusedWorkers(t *testing.T) {
	m, _ := newMatch(t, "blockbattle", "hand:ply=1", "random", 1)
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
	g, err := games.Lookup("blockbattle")
	require.NoError(t, err)
	for text, says := range map[string]string{
		"hand:time=50ms":        "depend on the clock",
		"exec:cat":              "a program of this machine",
		"learned:weights=/no/n": "no such file",
	} {
		_, err := pack(g, text, text, new([][]byte))
		require.ErrorContains(t, err, says)
	}
}

// A unit that fails in every worker is kept in a file and ends the match.
func TestUnitThatFails(t *testing.T) {
	m, _ := newMatch(t, "blockbattle", "random", "random", 2)
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
	kept, globErr := filepath.Glob(filepath.Join(filepath.Dir(s.key(t)), "failed-unit-[01].json"))
	require.NoError(t, globErr)
	require.NotEmpty(t, kept)
	require.NoError(t, s.Close(true))
	require.NoError(t, <-left)
}

// key is the file with the key of the workers.
func (s *session) key(t *testing.T) string {
	_, key, ok := strings.Cut(s.Site.Join, "--creds ")
	require.True(t, ok)
	return key
}

// What a match leaves in an external broker whose process was killed goes when the next one starts, if it is old.
func TestMatchThatWasKilled(t *testing.T) {
	m, _ := newMatch(t, "blockbattle", "random", "random", 1)
	s := start(t, m, fleet.DefaultLimits)
	ctx := t.Context()
	own := filepath.Join(filepath.Dir(s.key(t)), "learner.nk")
	killed, err := (&broker.ClientFlags{Creds: own}).Connect(s.Site.Address, "killed", quiet)
	require.NoError(t, err)
	again := *m
	gone, err := serve(ctx, &broker.Site{Conn: killed}, &again, []string{m.Players[0].Spec, m.Players[1].Spec},
		fleet.Options{Folder: t.TempDir(), Log: quiet}, fleet.DefaultLimits)
	require.NoError(t, err)
	killed.Close()
	silent := func() map[string]string {
		_, silent, err := fleet.Ask(ctx, s.Site.Conn)
		require.NoError(t, err)
		return silent
	}
	for !strings.Contains(silent()[gone.Run()], "does not answer") {
	}
	third := *m
	next, err := serve(ctx, s.Site, &third, []string{m.Players[0].Spec},
		fleet.Options{Folder: t.TempDir(), Log: quiet, Keep: time.Nanosecond}, fleet.DefaultLimits)
	require.NoError(t, err)
	require.NotContains(t, silent(), gone.Run())
	js, err := jetstream.New(s.Site.Conn)
	require.NoError(t, err)
	for name := range js.StreamNames(ctx).Name() {
		require.NotContains(t, name, gone.Run())
	}
	require.NoError(t, next.Server.Close(true))
	require.NoError(t, s.Close(true))
}

// Records of a unit that do not replay, or are those of another one, are refused.
func TestRecordsAreReplayed(t *testing.T) {
	m, _ := newMatch(t, "blockbattle", "random", "random", 1)
	s := &session{match: m}
	u := match.Unit{Seed: 7, Games: [][]match.Entrant{{{}, {Player: 1}}}}
	games, err := m.PlayUnit(t.Context(), u)
	require.NoError(t, err)
	_, err = s.check(u, fleet.JSON(games))
	require.NoError(t, err)
	games[0].Scores[0]++
	_, err = s.check(u, fleet.JSON(games))
	require.ErrorIs(t, err, record.ErrDiffers)
	games[0].Scores[0]--
	games[0].Seed++
	_, err = s.check(u, fleet.JSON(games))
	require.ErrorContains(t, err, "is another one")
}
