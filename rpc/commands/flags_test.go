package commands

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"time"

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
	c, hello, err := greeted(t, p.ready[0], server.Protocol[:]...)
	require.NoError(t, err)
	require.Equal(t, limits.Unlimited, hello.Limits["max_memory"])
	_, err = c.Open("dropblox", map[string]any{"num_envs": 64})
	require.NoError(t, err)
}

// The flags for time-outs are limits of the server, as --max-memory is in TestNoMemoryLimit.
func TestTimeoutFlags(t *testing.T) {
	longer := defaultLimits()
	longer.HelloTimeout, longer.FrameTimeout = time.Second, 2*time.Second
	longer.WriteTimeout, longer.DrainTimeout = 3*time.Second, 4*time.Second
	for flags, want := range map[string]limits.Limits{
		"": defaultLimits(), " --hello-timeout=1s --frame-timeout=2s --write-timeout=3s --drain-timeout=4s": longer,
	} {
		p := Program()
		_, err := p.Parse(t.Context(), strings.Fields("serve --listen unix:x"+flags))
		require.NoError(t, err)
		require.Equal(t, want, p.Commands.(*table).Serve.Limits)
	}
}

// Only with a token may games be watched from other machines.
func TestWatchRefuses(t *testing.T) {
	c := serveCmd{}
	all, err := c.listen(nil, &ready{}, nil, nil, nil)
	require.NoError(t, err)
	require.Empty(t, all, "off by default")
	c.Watch = "0.0.0.0:0"
	_, err = c.listen(nil, &ready{}, nil, nil, nil)
	require.ErrorContains(t, err, "set a token")
	for address, tokens := range map[string][]limits.Token{"0.0.0.0:0": {{Secret: "x"}}, "127.0.0.1:0": nil} {
		c.Watch = address
		all, err := c.listen(tokens, &ready{}, nil, nil, nil)
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.NoError(t, closeAll(all))
	}
}
