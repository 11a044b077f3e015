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
	"blockyard/env/envtest"
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
		envtest.Must(kv.Put(ctx, runKey(run), JSON(Run{ID: run, State: Running, Once: once, Epoch: 3})))
		envtest.Must(envtest.Must(createObjects(ctx, js, run)).Put(ctx, []byte("weights")))
		envtest.Must(js.CreateStream(ctx, jetstream.StreamConfig{Name: queueName(run, 3, "tasks")}))
	}
	leave("old", false)
	leave("old-2", true)
	leave("leased", false)
	other := serve(t, site, squares("alive", DefaultLimits), Options{})
	before := envtest.Must(get(ctx, kv, "alive"))
	entry := func(run string) *Run { return envtest.Must(get(ctx, kv, run)) }
	for entry("mine").written.Sub(before.written) < 2*time.Millisecond { // by the clock of the broker: what follows is newer
		require.NoError(t, mine.lease.write(ctx, nil))
	}
	envtest.Must(kv.Put(ctx, runKey("leased"), JSON(entry("leased"))))
	leave("new", false)
	keep := func() time.Duration { // separates the two
		require.NoError(t, mine.lease.write(ctx, nil))
		return entry("mine").written.Sub(entry("leased").written) + time.Millisecond
	}
	swept := func(keep time.Duration) []string {
		removed := envtest.Must(sweep(ctx, site.Conn, js, kv, "mine", keep))
		slices.Sort(removed)
		return removed
	}
	_, silent := envtest.Must2(Ask(ctx, site.Conn))
	require.Contains(t, silent["old"], "does not answer")
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
	require.ErrorIs(t, envtest.Failed(get(ctx, kv, "old-2")), ErrNoRun)
	again := serve(t, site, squares("old", DefaultLimits), Options{})
	require.EqualValues(t, 4, again.Status().Epoch)
	for _, s := range []*Server{again, other, mine} {
		require.NoError(t, s.Close(true))
	}
	finish(t, serve(t, site, squares("last", DefaultLimits), Options{Keep: time.Nanosecond}))
	require.Empty(t, entry("new").State, "whoever starts sweeps")
}

// Objects are bytes that match their names.
func TestObjects(t *testing.T) {
	f := broker.Flags{Listen: "127.0.0.1:0"}
	dir := t.TempDir()
	site := envtest.Must(f.Open(dir, "test", quiet))
	require.True(t, site.Embedded())
	require.Equal(t, "train join "+site.ConnectedUrl()+" --creds "+filepath.Join(dir, "worker.nk"), site.Join)
	o := envtest.Must(createObjects(t.Context(), envtest.Must(jetstream.New(site.Conn)), "run"))
	data := make([]byte, 3<<20)
	name := envtest.Must(o.Put(t.Context(), data))
	require.Equal(t, ObjectName(data), name)
	require.Equal(t, data, envtest.Must(o.Get(t.Context(), name)))
	other := fmt.Sprintf("%064d", 0)
	envtest.Must(o.store.PutBytes(t.Context(), other, data))
	require.ErrorContains(t, envtest.Failed(o.Get(t.Context(), other)), "do not match its name")
	require.NoError(t, o.Remove(t.Context(), name))
	require.NoError(t, o.Remove(t.Context(), name))
	require.ErrorIs(t, envtest.Failed(o.Get(t.Context(), name)), ErrNoObject)
	require.NoError(t, site.Close(true))
	require.NoDirExists(t, filepath.Join(dir, "broker"))
}
