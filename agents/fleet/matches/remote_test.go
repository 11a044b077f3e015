package matches

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
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
	"blockyard/env/games"
)

var quiet = slog.New(slog.DiscardHandler)

// newMatch is a match between two agents, and its records as JSON.
func newMatch(t *testing.T, game, a, b string, units int) (*match.Match, *strings.Builder) {
	t.Helper()
	g, err := games.Lookup(game)
	require.NoError(t, err)
	lines := new(strings.Builder)
	m := &match.Match{Rules: g, Units: units, Seed: 7, Record: func(r *record.Record) error {
		return json.NewEncoder(lines).Encode(r)
	}}
	for to, text := range map[*match.Player]string{&m.A: a, &m.B: b} {
		f, err := bots.New(g, bots.Own(text))
		require.NoError(t, err)
		*to = match.Player{Name: text, New: f}
	}
	return m, lines
}

// host lets workers play m.
func host(t *testing.T, m *match.Match, limits Limits) (*Host, *broker.Site) {
	t.Helper()
	f := broker.Flags{Listen: "127.0.0.1:0"}
	dir := t.TempDir()
	site, err := f.Open(dir, "test", quiet)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, site.Close(true)) })
	h, err := Start(t.Context(), site.Conn, m, Agent{m.A.Name, m.A.Name}, &Agent{m.B.Name, m.B.Name},
		Options{Folder: dir, Limits: limits, Log: quiet})
	require.NoError(t, err)
	return h, site
}

func (h *Host) work(ctx context.Context, site *broker.Site, name string) <-chan error {
	left := make(chan error, 1)
	go func() { left <- Work(ctx, site.Conn, h.Run(), name, 1, quiet, new(fleet.WorkerCounts)) }()
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

// Results and records are those of a match without workers, byte for byte, whatever is lost, repeated or damaged.
func TestSameMatch(t *testing.T) {
	a := "learned:ply=1,weights=" + shippedWeights(t)
	alone, want := newMatch(t, "blockbattle", a, "hand:ply=1", 12)
	local, err := alone.TwoPlayer(t.Context())
	require.NoError(t, err)

	together, got := newMatch(t, "blockbattle", a, "hand:ply=1", 12)
	h, site := host(t, together, Limits{AckWait: 3 * time.Second, Deliveries: 20})
	result := func(r result) {
		_, err := site.Request(fleet.Subject(h.Run(), "result"), fleet.JSON(r), time.Minute)
		require.NoError(t, err)
	}
	ended := make(chan match.TwoPlayerResult, 1)
	go func() {
		r, err := together.TwoPlayer(t.Context())
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	for n := 0; n < 3; { // a worker that takes tasks, and is lost or answers with damaged results
		m, err := site.Request(fleet.Subject(h.Run(), "next"), fleet.JSON(request{"lost"}), time.Minute)
		require.NoError(t, err)
		var r reply
		require.NoError(t, json.Unmarshal(m.Data, &r))
		if r.Unit == nil {
			continue
		}
		if n++; n == 1 {
			continue
		}
		records, err := together.PlayUnit(t.Context(), *r.Unit)
		require.NoError(t, err)
		records[0].Results[0] = 1 - records[0].Results[0]
		games := map[int][]*record.Record{2: records, 3: records[:1]}[n]
		result(resultOf(r.Unit.Index, "lost", games))
	}
	require.NoError(t, site.Publish(fleet.Subject(h.Run(), "result"), []byte("hello")))
	first, second := h.work(t.Context(), site, "first"), h.work(t.Context(), site, "second")
	remote := <-ended
	require.Equal(t, local, remote)
	require.Equal(t, want.String(), got.String())
	result(resultOf(0, "lost", nil)) // late
	rows := h.Workers()
	require.Len(t, rows, 3)
	require.Equal(t, "lost", rows[1].Name)
	require.Equal(t, 1, rows[1].Dropped)
	require.Zero(t, rows[1].Games)
	require.Equal(t, 24, rows[0].Games+rows[2].Games, "every game counts once")
	require.NoError(t, h.Close())
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

func resultOf(index int, worker string, games []*record.Record) result {
	return result{Index: index, Worker: worker, Games: games}
}

// Matches of one seat, and of more than two, have the same result too.
func TestOtherNumbersOfSeats(t *testing.T) {
	for game, play := range map[string]func(*match.Match) (fmt.Stringer, error){
		"wintetris": func(m *match.Match) (fmt.Stringer, error) { return m.SinglePlayer(t.Context()) },
		"blocking":  func(m *match.Match) (fmt.Stringer, error) { return m.MultiPlayer(t.Context()) },
	} {
		t.Run(game, func(t *testing.T) {
			var texts, records []string
			for _, remote := range []bool{false, true} {
				m, lines := newMatch(t, game, "hand", "random", 2)
				if game == "wintetris" {
					m.Skip, m.Steps = 3, 40
				} else {
					m.Seats = 3
				}
				var h *Host
				if remote {
					var site *broker.Site
					h, site = host(t, m, DefaultLimits)
					h.work(t.Context(), site, "only")
				}
				r, err := play(m)
				require.NoError(t, err)
				texts, records = append(texts, r.String()), append(records, lines.String())
				if remote {
					require.NoError(t, h.Close())
				}
			}
			require.Equal(t, texts[0], texts[1])
			require.Equal(t, records[0], records[1])
		})
	}
}

// A worker that cannot play as the process of the match would is refused with the reason, and that process learns it.
func TestRefusedWorkers(t *testing.T) {
	m, _ := newMatch(t, "blockbattle", "hand:ply=1", "random", 1)
	h, site := host(t, m, DefaultLimits)
	for says, change := range map[string]func(*spec){
		"format version 9, this worker 2":            func(s *spec) { s.Version = 9 },
		"rules of blockbattle in version 99":         func(s *spec) { s.Rules = 99 },
		"features of blockbattle with the hash beef": func(s *spec) { s.Features = "beef" },
		"weights of blockbattle with the hash beef":  func(s *spec) { s.Shipped = "beef" },
		"Evaluation or moves differ":                 func(s *spec) { s.Check = "beef" },
		`no game "chess"`:                            func(s *spec) { s.Game = "chess" },
		`agent "exec:true": reads files or runs`:     func(s *spec) { s.Players = []player{{Spec: "exec:true"}} },
		`weights=/etc/passwd": reads files or runs`:  func(s *spec) { s.Players = []player{{Spec: "hand:weights=/etc/passwd"}} },
	} {
		s := *h.spec
		change(&s)
		_, err := h.kv.Put(t.Context(), fleet.SpecKey(h.Run()), fleet.JSON(s))
		require.NoError(t, err)
		err = <-h.work(t.Context(), site, "other")
		require.ErrorIs(t, err, ErrRefused, says)
		require.ErrorContains(t, err, says)
	}
	require.Eventually(t, func() bool {
		return len(h.Workers()) == 1 && h.Workers()[0].State == fleet.Refused
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, h.Close())
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
		_, err := pack(g, Agent{text, text}, map[string][]byte{})
		require.ErrorContains(t, err, says)
	}
}

// A unit that fails in every worker is kept in a file and ends the match.
func TestUnitThatFails(t *testing.T) {
	m, _ := newMatch(t, "blockbattle", "random", "random", 2)
	h, site := host(t, m, Limits{AckWait: time.Minute, Deliveries: 3})
	ended := make(chan error, 1)
	go func() {
		_, err := m.TwoPlayer(t.Context())
		ended <- err
	}()
	w := &worker{name: "fragile", nc: site.Conn, spec: h.spec, counts: new(fleet.WorkerCounts), log: quiet, match: m}
	broken := *m
	broken.A.New = func(uint64) (env.Agent, error) { panic("out of order") }
	w.match = &broken
	ctx, stop := context.WithCancelCause(t.Context())
	go w.play(ctx, stop)
	err := <-ended
	stop(nil)
	require.ErrorContains(t, err, "unit 0 was given to workers 3 times and has no result: worker fragile says: panic: out of order")
	require.FileExists(t, filepath.Join(h.folder, "failed-unit-0.json"))
	require.NoError(t, h.Close())
}
