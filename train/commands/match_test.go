//go:build unix

package commands

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/fleet/matches"
	"blockyard/agents/match"
	"blockyard/train/games"

	"github.com/nats-io/nats.go"
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := l.Addr().String()
	require.NoError(t, l.Close())
	type played struct {
		*match.Report
		err error
	}
	ended := make(chan played, 1)
	go func() {
		together, log := newMatch(), slog.New(slog.DiscardHandler)
		f := matches.Flags{Flags: broker.Flags{Listen: at}, Dir: dir}
		f.Cluster.On = true
		session, err := f.Start(t.Context(), &together, []string{together.Players[0].Name, together.Players[1].Name}, io.Discard, log)
		if err != nil {
			ended <- played{err: err}
			return
		}
		got, err := together.Play(t.Context())
		ended <- played{got, errors.Join(err, session.Close(true))}
	}()
	key := filepath.Join(dir, "worker.nk")
	require.Eventually(t, func() bool { _, err := os.Stat(key); return err == nil }, time.Minute, 10*time.Millisecond)
	join := []string{"join", "nats://" + at, "--creds", key}
	killed := startWorker(t, "killed", at, join)
	var nc *nats.Conn // the broker writes its key before it listens
	require.Eventually(t, func() bool {
		nc, err = (&broker.ClientFlags{Creds: key}).Connect(join[1], "test", slog.New(slog.DiscardHandler))
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	defer nc.Close()
	require.Eventually(t, func() bool {
		all, _, _ := fleet.Ask(t.Context(), nc)
		return len(all) == 1 && len(all[0].Workers) == 1 && all[0].Workers[0].Tasks > 0
	}, time.Minute, 5*time.Millisecond)
	killed.kill()
	startWorker(t, "second", at, join)
	startWorker(t, "third", at, join)
	got := <-ended
	require.NoError(t, got.err)
	require.Equal(t, want, got.Report)
}
