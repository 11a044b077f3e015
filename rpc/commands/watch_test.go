package commands

import (
	"testing"

	"blockyard/rpc/session/limits"

	"github.com/stretchr/testify/require"
)

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
