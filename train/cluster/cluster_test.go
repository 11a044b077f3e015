package cluster

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/mlp"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"

	"github.com/stretchr/testify/require"
)

var quiet = slog.New(slog.DiscardHandler)

// small is a run of a second or so: TD(λ), then a backup.
func small() *phases.Config {
	c := phases.Default(games.BlockBattle)
	c.Seed, c.Games, c.Rounds, c.Iterations, c.Batch, c.Hidden = 3, 6, 32, 10, 32, []int{8}
	c.Results, c.Backup, c.Samples = 0.4, 0.6, 6
	c.Gates, c.GatePairs, c.GatePly = 2, 2, 1
	return &c
}

func newRun(t *testing.T, c selfplay.Algorithm) *selfplay.Run {
	g := games.BlockBattle
	if _, solo := c.(*single.Config); solo {
		g = games.WinTetris
	}
	r := envtest.Must(selfplay.New(g, c, nil, 1))
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// weights is the SHA-256 of the run's net.
func weights(n *mlp.Net) string {
	_, id := envtest.Must2(selfplay.NetFile(n))
	return id
}

// A site is a broker, which clients reach at an address.
type site struct {
	*broker.Site
	broker.ClientFlags
	folder string
}

func newSite(t *testing.T) *site {
	s := &site{folder: t.TempDir()}
	f := broker.Flags{Listen: "127.0.0.1:0"}
	s.Site = envtest.Must(f.Open(s.folder, t.Name(), quiet))
	t.Cleanup(func() { require.NoError(t, s.Close(true)) })
	_, s.Creds, _ = strings.Cut(s.Join, "--creds ")
	return s
}

// long is how long tests wait for an event that will come.
const long = 2 * time.Minute

// limits let lost tasks come back soon, and as often as a busy machine loses them.
var limits = fleet.Limits{AckWait: 2 * time.Second, Deliveries: 100}

// learner lets workers play for a run, of whose results it plays a share again.
func (s *site) learner(t *testing.T, r *selfplay.Run, folder string, limits fleet.Limits, verify float64) *Learner {
	l, err := NewLearner(t.Context(), &broker.Site{Conn: s.Conn}, r, limits, verify, fleet.Options{Folder: folder, Log: quiet})
	require.NoError(t, err)
	r.Remote = l.Play
	return l
}

func settings(g *games.Game) selfplay.Algorithm {
	if g.Solo != nil {
		return new(single.Config)
	}
	return new(phases.Config)
}

// work starts a worker, which plays by kind, or as it should if that is nil. The channel has its error when it has left.
func (s *site) work(t *testing.T, ctx context.Context, name string, kind fleet.Kind) <-chan error {
	if kind == nil {
		kind = Open(settings)
	}
	nc := envtest.Must(s.Connect(s.Address, t.Name(), quiet))
	left := make(chan error, 1)
	go func() {
		defer nc.Close()
		left <- fleet.Work(ctx, nc, fleet.WorkerOptions{Name: name, Threads: 1, Kinds: map[string]fleet.Kind{Kind: kind},
			Counts: new(fleet.WorkerCounts), Log: quiet})
	}()
	return left
}

// Workers that join and leave, and the number of slots per task change no bit of the weights.
func TestSameWeights(t *testing.T) {
	several, solo := small(), single.Default(games.WinTetris)
	several.Versus, several.Opponents = 0.5, []string{"hand", "combo", "digger"}
	solo.Seed, solo.Games, solo.Rounds, solo.Iterations, solo.Batch, solo.Hidden = 5, 6, 24, 6, 32, []int{8}
	solo.Gates, solo.GateGames, solo.GateSteps = 2, 2, 40
	for name, c := range map[string]selfplay.Algorithm{"several seats": several, "one seat": &solo} {
		c.Common().Games = 24 // two slots per task with three threads, more with fewer
		t.Run(name, func(t *testing.T) {
			alone, together := newRun(t, c), newRun(t, c)
			require.NoError(t, alone.Go(t.Context(), nil))
			s := newSite(t)
			l := s.learner(t, together, t.TempDir(), limits, 0)
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			first := s.work(t, ctx, "first", nil)
			second, third := s.work(t, t.Context(), "second", nil), s.work(t, t.Context(), "third", nil)
			steps := 0
			require.NoError(t, together.Go(t.Context(), func(bool) error {
				if steps++; steps == 3 {
					kill()
				}
				return l.Check(t.Context())
			}))
			require.Equal(t, weights(alone.Net()), weights(together.Net()))
			require.Equal(t, alone.Counts.Games, together.Counts.Games)
			require.Equal(t, alone.Counts.Visited, together.Counts.Visited)

			sum := fleet.WorkerRow{}
			for _, w := range l.Workers() {
				sum.Tasks += w.Tasks
				sum.Games += w.Games
				sum.Moves += w.Moves
			}
			require.Equal(t, alone.Counts.Games, sum.Games)
			require.Equal(t, alone.Counts.Moves, sum.Moves, "every task is counted once")
			require.Less(t, sum.Tasks, c.Common().Games*c.Common().Iterations, "some tasks have several slots")
			require.NoError(t, l.Close(true))
			require.NoError(t, <-first)
			require.NoError(t, <-second, "the run is over")
			require.NoError(t, <-third)
		})
	}
}

// A learner that continues a saved run has its weights, and nothing of the earlier learner counts.
func TestResume(t *testing.T) {
	alone, together := newRun(t, small()), newRun(t, small())
	require.NoError(t, alone.Go(t.Context(), nil))
	s, folder := newSite(t), t.TempDir()
	s.work(t, t.Context(), "only", nil)
	first := s.learner(t, together, folder, limits, 0)
	for range 4 {
		require.NoError(t, together.Step())
	}
	require.NoError(t, together.Save(filepath.Join(folder, selfplay.StateFile)))
	require.NoError(t, together.Step(), "lost")
	require.NoError(t, first.Close(false))

	again := saved(t, folder)
	second := s.learner(t, again, folder, limits, 0)
	require.Equal(t, first.Run(), second.Run())
	require.EqualValues(t, 2, second.Status().Epoch)
	require.NoError(t, again.Go(t.Context(), nil))
	require.Equal(t, weights(alone.Net()), weights(again.Net()))
	require.NoError(t, second.Close(true))
}

// Only clients with the key are let in, and others learn what to do. A broker says what is wrong with its settings.
func TestBroker(t *testing.T) {
	s, other := newSite(t), filepath.Join(t.TempDir(), "other")
	envtest.Must(broker.NewKey(other))
	for creds, says := range map[string]string{
		"":             "wants credentials: pass --creds FILE",
		other:          "refuses the credentials in " + other,
		"no-such-file": "--creds: open no-such-file",
		"learner.go":   "learner.go holds neither a key nor NATS credentials",
	} {
		require.ErrorContains(t, envtest.Failed((&broker.ClientFlags{Creds: creds}).Connect(s.Address, "test", quiet)), says)
	}
	require.ErrorContains(t, envtest.Failed(broker.NewKey("learner.go")), "learner.go: not a key of this program")
	for says, f := range map[string]broker.Flags{
		"want HOST:PORT":               {Listen: ":4222"},
		"choose another with --listen": {Listen: strings.TrimPrefix(s.Address, "nats://")},
		"TLS":                          {Listen: "127.0.0.1:0", TLSCert: "learner.go", TLSKey: "learner.go"},
	} {
		require.ErrorContains(t, envtest.Failed(f.Open(t.TempDir(), "test", quiet)), says)
	}
	_, err := (&broker.Flags{Listen: "127.0.0.1:0"}).Open(s.folder, "test", quiet)
	require.ErrorContains(t, err, "another learner drives this run")
}

// Without room for its queues, a learner says so.
func TestNoRoom(t *testing.T) {
	f := broker.Flags{Listen: "127.0.0.1:0", Most: 32 << 20}
	site := envtest.Must(f.Open(t.TempDir(), "test", quiet))
	_, err := NewLearner(t.Context(), site, newRun(t, small()), limits, 0, fleet.Options{Folder: t.TempDir(), Log: quiet})
	require.ErrorContains(t, err, "no room to store messages: free space on its disk")
	require.NoError(t, site.Close(true))
}
