package matches

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
)

// The weights of a match stay while its process lives. When it was killed, they vanish by themselves, and its spec when
// the next match starts.
func TestMatchThatWasKilled(t *testing.T) {
	weights := "learned:ply=1,weights=" + shippedWeights(t)
	f := broker.Flags{Listen: "127.0.0.1:0"}
	dir := t.TempDir()
	site, err := f.Open(filepath.Join(dir, "site"), "test", quiet)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, site.Close(true)) })
	const keep = 2 * time.Second
	start := func() *Host {
		m, _ := newMatch(t, "blockbattle", weights, "hand:ply=1", 1)
		h, err := Start(t.Context(), site.Conn, m, Agent{m.A.Name, m.A.Name}, &Agent{m.B.Name, m.B.Name},
			Options{Folder: dir, Limits: DefaultLimits, Log: quiet, Keep: keep})
		require.NoError(t, err)
		return h
	}
	h := start()
	ctx := t.Context()
	stored := func(run string) jetstream.StreamState {
		s, err := h.js.Stream(ctx, "OBJ_blockyard-"+run+"-nets")
		require.NoError(t, err)
		info, err := s.Info(ctx)
		require.NoError(t, err)
		return info.State
	}
	begun := time.Now()
	require.Eventually(t, func() bool { // a busy machine may refresh them late, after they have vanished
		_, err := h.files.Get(ctx, strings.TrimPrefix(h.spec.Players[0].Spec, "learned:ply=1,weights="+bots.ContentPrefix))
		return err == nil && time.Since(begun) > 2*keep && stored(h.Run()).LastTime.Sub(begun) > keep
	}, time.Minute, 100*time.Millisecond, "they are refreshed")

	h.stopRefresh() // as a process that was killed, it writes nothing and hears nothing
	h.refreshing.Wait()
	h.stop()
	require.Eventually(t, func() bool { return stored(h.Run()).Bytes == 0 }, time.Minute, 100*time.Millisecond)
	require.NoError(t, fleet.ReadSpec(ctx, h.kv, h.Run(), new(spec)))
	next := start()
	require.ErrorIs(t, fleet.ReadSpec(ctx, h.kv, h.Run(), new(spec)), fleet.ErrNoRun)
	_, err = h.js.Stream(ctx, "OBJ_blockyard-"+h.Run()+"-nets")
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
	require.NoError(t, next.Close())
}
