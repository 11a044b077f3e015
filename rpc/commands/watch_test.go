package commands

import (
	"testing"

	"blockyard/rpc/server/limits"

	"github.com/stretchr/testify/require"
)

// Only with a token may games be watched from other machines.
func TestWatchRefuses(t *testing.T) {
	f := watchFlags{}
	l, err := f.listen(nil)
	require.NoError(t, err)
	require.Nil(t, l, "off by default")
	f.Watch = "0.0.0.0:0"
	_, err = f.listen(nil)
	require.ErrorContains(t, err, "set a token")
	for address, tokens := range map[string][]limits.Token{"0.0.0.0:0": {{Secret: "x"}}, "127.0.0.1:0": nil} {
		f.Watch = address
		l, err = f.listen(tokens)
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}
