package broker

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// Large results travel as objects, whose bytes must match their names.
func TestObjects(t *testing.T) {
	f := Flags{Listen: "127.0.0.1:0"}
	dir := t.TempDir()
	site, err := f.Open(dir, "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.True(t, site.Embedded())
	require.Equal(t, "train join "+site.ConnectedUrl()+" --creds "+filepath.Join(dir, "worker.nk"), site.Join)
	js, err := jetstream.New(site.Conn)
	require.NoError(t, err)
	o, err := OpenObjects(t.Context(), js, "run", true)
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
