package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"blockyard/agents/fleet/broker"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// What runs leave in a broker whose processes are gone is removed when it is old, and nothing else.
func TestSweep(t *testing.T) {
	f := broker.Flags{Listen: "127.0.0.1:0"}
	site, err := f.Open(t.TempDir(), "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ctx := t.Context()
	js, err := jetstream.New(site.Conn)
	require.NoError(t, err)
	kv, err := Runs(ctx, js, true)
	require.NoError(t, err)
	leave := func(run string) {
		_, err := kv.Put(ctx, SpecKey(run), JSON(Head{Run: run, State: Running}))
		require.NoError(t, err)
		_, err = kv.Put(ctx, "lease."+run, []byte("epoch"))
		require.NoError(t, err)
		_, err = CreateObjects(ctx, js, run, 0)
		require.NoError(t, err)
		_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "blockyard-" + run + "-3-tasks"})
		require.NoError(t, err)
	}
	for _, run := range []string{"old", "old-2", "alive", "leased"} {
		leave(run)
	}
	ended, stop := context.WithCancel(ctx)
	require.NoError(t, NewRoster("alive", slog.New(slog.DiscardHandler)).Listen(ended, site.Conn, func() Status { return Status{} }))
	time.Sleep(3 * time.Second)
	before := time.Now() // what has been left so far is 3 seconds older than the rest
	keep := func() time.Duration { return time.Since(before) + 2500*time.Millisecond }
	_, err = kv.Put(ctx, "lease.leased", []byte("renewed"))
	require.NoError(t, err)
	leave("new")
	leave("mine")
	sweep := func(keep time.Duration) []string {
		removed, err := Sweep(ctx, site.Conn, js, kv, "mine", keep)
		require.NoError(t, err)
		slices.Sort(removed)
		return removed
	}
	require.Empty(t, sweep(time.Hour))
	require.Equal(t, []string{"old", "old-2"}, sweep(keep()))
	require.Empty(t, sweep(keep()))
	stop()
	require.Eventually(t, func() bool { return slices.Equal([]string{"alive"}, sweep(keep())) },
		time.Minute, 50*time.Millisecond, "its process is gone")

	var left []string
	for name := range js.StreamNames(ctx).Name() {
		left = append(left, name)
	}
	slices.Sort(left)
	require.Equal(t, []string{"KV_blockyard-runs", "OBJ_blockyard-leased-nets", "OBJ_blockyard-mine-nets",
		"OBJ_blockyard-new-nets", "blockyard-leased-3-tasks", "blockyard-mine-3-tasks", "blockyard-new-3-tasks"}, left)
	require.ErrorIs(t, ReadSpec(ctx, kv, "old", new(Head)), ErrNoRun)
	_, err = kv.Get(ctx, "lease.old")
	require.NoError(t, err, "its epochs go on")
	require.NoError(t, site.Close(true))
}

// Large results travel as objects, whose bytes must match their names.
func TestObjects(t *testing.T) {
	f := broker.Flags{Listen: "127.0.0.1:0"}
	dir := t.TempDir()
	site, err := f.Open(dir, "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.True(t, site.Embedded())
	require.Equal(t, "train join "+site.ConnectedUrl()+" --creds "+filepath.Join(dir, "worker.nk"), site.Join)
	js, err := jetstream.New(site.Conn)
	require.NoError(t, err)
	o, err := CreateObjects(t.Context(), js, "run", 0)
	require.NoError(t, err)
	data := make([]byte, 3<<20)
	name, err := o.Put(t.Context(), data)
	require.NoError(t, err)
	require.Equal(t, ObjectName(data), name)
	got, err := o.Get(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, data, got)
	other := fmt.Sprintf("%064d", 0)
	_, err = o.store.PutBytes(t.Context(), other, data)
	require.NoError(t, err)
	_, err = o.Get(t.Context(), other)
	require.ErrorContains(t, err, "do not match its name")
	require.NoError(t, o.Remove(t.Context(), name))
	_, err = o.Get(t.Context(), name)
	require.ErrorContains(t, err, "not found")
	require.NoError(t, site.Close(true))
	require.NoDirExists(t, filepath.Join(dir, "broker"))
}
