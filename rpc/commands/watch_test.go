package commands

import (
	"testing"

	"blockyard/rpc/server/limits"

	"github.com/stretchr/testify/require"
)

// Only with a token may games be watched from other machines.
func TestWatchRefuses(t *testing.T) {
	c := serveCmd{}
	require.Empty(t, c.services(nil, nil, nil), "off by default")
	c.Watch = "0.0.0.0:0"
	_, err := c.listenAll(c.services(nil, nil, nil), nil, &ready{})
	require.ErrorContains(t, err, "set a token")
	for address, tokens := range map[string][]limits.Token{"0.0.0.0:0": {{Secret: "x"}}, "127.0.0.1:0": nil} {
		c.Watch = address
		all, err := c.listenAll(c.services(nil, nil, nil), tokens, &ready{})
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.NoError(t, closeAll(all))
	}
}
