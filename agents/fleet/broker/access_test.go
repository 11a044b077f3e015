package broker

import (
	"bytes"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// A broker on every network says what is unsafe without TLS, and prints an address that workers can use.
func TestListenOnEveryNetwork(t *testing.T) {
	for listen, warns := range map[string]bool{"0.0.0.0:0": true, "[::]:0": true, "127.0.0.1:0": false} {
		var log bytes.Buffer
		dir := t.TempDir()
		f := Flags{Listen: listen}
		site := envtest.Must(f.Open(dir, "test", slog.New(slog.NewTextHandler(&log, nil))))
		require.Equal(t, warns, bytes.Contains(log.Bytes(), []byte("without --tls-cert")), listen)
		ip := net.ParseIP(envtest.Must(url.Parse(site.Address)).Hostname())
		require.NotNil(t, ip, site.Address)
		require.False(t, ip.IsUnspecified(), site.Address)
		nc, err := (&ClientFlags{Creds: filepath.Join(dir, keyFile)}).Connect(site.Address, "worker", slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		nc.Close()
		for _, name := range []string{keyFile, ownKeyFile} {
			require.Equal(t, fs.FileMode(0o600), envtest.Must(os.Stat(filepath.Join(dir, name))).Mode().Perm())
		}
		require.NoError(t, site.Close(true))
	}
	host := envtest.Must(os.Hostname())
	at, others := reachable(&net.TCPAddr{IP: net.IPv4zero, Port: 4222}, true)
	require.Equal(t, net.JoinHostPort(host, "4222"), at)
	require.True(t, others)
}
