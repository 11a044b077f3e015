package fleet

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"blockyard/agents/fleet/broker"
)

// What runs leave in a broker whose processes are gone is removed when it is old, and nothing else.
func TestSweep(t *testing.T) {
	site := newSite(t)
	ctx := t.Context()
	mine := serve(t, site, squares("mine", DefaultLimits), Options{})
	js, kv := mine.js, mine.kv
	mine.fail(errors.New("only this test renews it"))
	mine.running.Wait()
	leave := func(run string, once bool) {
		_, err := kv.Put(ctx, runKey(run), JSON(Run{ID: run, State: Running, Once: once, Epoch: 3}))
		require.NoError(t, err)
		o, err := createObjects(ctx, js, run)
		require.NoError(t, err)
		_, err = o.Put(ctx, []byte("weights"))
		require.NoError(t, err)
		_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: queueName(run, 3, "tasks")})
		require.NoError(t, err)
	}
	leave("old", false)
	leave("old-2", true)
	leave("leased", false)
	other := serve(t, site, squares("alive", DefaultLimits), Options{})
	before, err := get(ctx, kv, "alive")
	require.NoError(t, err)
	entry := func(run string) *Run {
		e, err := get(ctx, kv, run)
		require.NoError(t, err)
		return e
	}
	for entry("mine").written.Sub(before.written) < 2*time.Millisecond { // by the clock of the broker: what follows is newer
		require.NoError(t, mine.lease.write(ctx, nil))
	}
	_, err = kv.Put(ctx, runKey("leased"), JSON(entry("leased")))
	require.NoError(t, err)
	leave("new", false)
	keep := func() time.Duration { // separates the two
		require.NoError(t, mine.lease.write(ctx, nil))
		return entry("mine").written.Sub(entry("leased").written) + time.Millisecond
	}
	swept := func(keep time.Duration) []string {
		removed, err := sweep(ctx, site.Conn, js, kv, "mine", keep)
		require.NoError(t, err)
		slices.Sort(removed)
		return removed
	}
	require.Empty(t, swept(time.Hour))
	require.Equal(t, []string{"old", "old-2"}, swept(keep()))
	require.Empty(t, swept(keep()))

	var left []string
	for name := range js.StreamNames(ctx).Name() {
		left = append(left, name)
	}
	slices.Sort(left)
	require.Equal(t, []string{"KV_blockyard-runs", "OBJ_blockyard-alive-nets", "OBJ_blockyard-leased-nets",
		"OBJ_blockyard-mine-nets", "OBJ_blockyard-new-nets", "blockyard-alive-1-results", "blockyard-alive-1-tasks",
		"blockyard-leased-3-tasks", "blockyard-mine-1-results", "blockyard-mine-1-tasks", "blockyard-new-3-tasks"}, left)
	require.Empty(t, entry("old").State)
	require.EqualValues(t, 3, entry("old").Epoch, "its epochs go on")
	_, err = get(ctx, kv, "old-2")
	require.ErrorIs(t, err, ErrNoRun)
	again := serve(t, site, squares("old", DefaultLimits), Options{})
	require.EqualValues(t, 4, again.Status().Epoch)
	for _, s := range []*Server{again, other, mine} {
		require.NoError(t, s.Close(true))
	}
}

// Objects are bytes that match their names.
func TestObjects(t *testing.T) {
	f := broker.Flags{Listen: "127.0.0.1:0"}
	dir := t.TempDir()
	site, err := f.Open(dir, "test", quiet)
	require.NoError(t, err)
	require.True(t, site.Embedded())
	require.Equal(t, "train join "+site.ConnectedUrl()+" --creds "+filepath.Join(dir, "worker.nk"), site.Join)
	js, err := jetstream.New(site.Conn)
	require.NoError(t, err)
	o, err := createObjects(t.Context(), js, "run")
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
	require.NoError(t, o.Remove(t.Context(), name))
	_, err = o.Get(t.Context(), name)
	require.ErrorIs(t, err, ErrNoObject)
	require.NoError(t, site.Close(true))
	require.NoDirExists(t, filepath.Join(dir, "broker"))
}
