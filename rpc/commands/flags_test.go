package commands

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
	"blockyard/rpc/server/listen"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire/client"
)

// keys has the certificates of the tests.
const keys = "../python/tests/tls/"

func TestOldTLSIsRefused(t *testing.T) {
	pool, err := listen.Authorities(keys + "ca.pem")
	require.NoError(t, err)
	flags := []string{"--listen", "tls:127.0.0.1:0", "--cert", keys + "server.pem", "--key", keys + "server.key"}
	for _, c := range []struct {
		flags  []string
		oldest uint16 // that the server speaks
	}{{flags, tls.VersionTLS13}, {append(flags, "--tls12"), tls.VersionTLS12}} {
		p := serve(t, c.flags...)
		for version := uint16(tls.VersionTLS11); version <= tls.VersionTLS13; version++ {
			config := &tls.Config{RootCAs: pool, MinVersion: version, MaxVersion: version}
			conn, err := client.Dial(context.Background(), p.ready[0], "", config)
			if version < c.oldest {
				require.ErrorContains(t, err, "protocol version", tls.VersionName(version))
				continue
			}
			require.NoError(t, err, tls.VersionName(version))
			require.NoError(t, conn.Close())
		}
	}
}

// A server without an address serves this machine.
func TestDefaultAddress(t *testing.T) {
	var here, texts serveCmd
	texts.OpenEnv, texts.Game = "127.0.0.1:0", "blockbattle"
	require.NoError(t, here.Validate())
	require.Equal(t, []string{"tcp:127.0.0.1:7777"}, here.Listen)
	require.NoError(t, texts.Validate())
	require.Empty(t, texts.Listen)
}

// With --max-memory 0 memory has no limit, which clients are told as the largest number.
func TestNoMemoryLimit(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--max-memory", "0")
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.ready[0], "tcp:"))
	require.NoError(t, err)
	c := client.New(conn)
	defer c.Close()
	var hello struct {
		Limits map[string]int64 `msgpack:"limits"`
	}
	require.NoError(t, c.Call("hello", &hello, map[string]any{"proto": server.Protocol}))
	require.Equal(t, limits.Unlimited, hello.Limits["max_memory"])
	_, err = c.Open("dropblox", map[string]any{"num_envs": 64})
	require.NoError(t, err)
	require.Equal(t, 1, run(t.Context(), []string{"serve", "--listen", "tcp:127.0.0.1:0", "--max-memory=-1"}))
}

// The flags for time-outs are limits of the server, as --max-memory is in TestNoMemoryLimit.
func TestTimeoutFlags(t *testing.T) {
	parsed := table{Serve: serveCmd{Limits: defaultLimits()}}
	parser, err := kong.New(&parsed, kong.BindTo(t.Context(), (*context.Context)(nil)), vars())
	require.NoError(t, err)
	_, err = parser.Parse([]string{"serve", "--listen", "unix:x"})
	require.NoError(t, err)
	require.Equal(t, defaultLimits(), parsed.Serve.Limits)
	_, err = parser.Parse([]string{"serve", "--listen", "unix:x",
		"--hello-timeout=1s", "--frame-timeout=2s", "--write-timeout=3s", "--drain-timeout=4s"})
	require.NoError(t, err)
	want := defaultLimits()
	want.HelloTimeout, want.FrameTimeout = time.Second, 2*time.Second
	want.WriteTimeout, want.DrainTimeout = 3*time.Second, 4*time.Second
	require.Equal(t, want, parsed.Serve.Limits)
	for _, flag := range []string{"--hello-timeout=0s", "--frame-timeout=-1s", "--write-timeout=1us", "--drain-timeout=-1s"} {
		require.Equal(t, 1, run(t.Context(), []string{"serve", "--listen", "tcp:127.0.0.1:0", flag}), flag)
	}

}
