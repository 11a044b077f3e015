package submit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/submissions/netpack"
)

func TestTextLen(t *testing.T) {
	for _, sizes := range [][]int{{3, 1}, {10, 9, 1}, {29, 7, 5, 1}, {127, 64, 1}} {
		for _, bits := range []int{netpack.Fewest, 16, 23, netpack.Exact} {
			text, err := netpack.Encode(randomNet(t, sizes...), bits)
			require.NoError(t, err)
			require.Equal(t, len(text), textLen(sizes, bits), "%v with %d bits", sizes, bits)
		}
	}
}

// The error for a network that is too large says how many hidden units fit: that many do, and one more does not.
func TestTooLargeNetwork(t *testing.T) {
	in := blockbattlebot.Len
	_, err := Bot{Game: "blockbattle", Net: randomNet(t, in, 512, 1)}.Source()
	require.ErrorContains(t, err, "train one with at most ")
	f, err := Bot{Game: "blockbattle", Net: randomNet(t, in, 8, 1)}.Source()
	require.NoError(t, err)
	require.Equal(t, netpack.Exact, f.Bits)

	rounded, exact := units(randomNet(t, in, 1, 1), f.Room, fewestBits), units(randomNet(t, in, 1, 1), f.Room, netpack.Exact)
	require.Less(t, exact, rounded)
	f, err = Bot{Game: "blockbattle", Net: randomNet(t, in, exact, 1)}.Source()
	require.NoError(t, err)
	require.Equal(t, netpack.Exact, f.Bits)
	f, err = Bot{Game: "blockbattle", Net: randomNet(t, in, exact+1, 1)}.Source()
	require.NoError(t, err)
	require.Less(t, f.Bits, netpack.Exact)
	f, err = Bot{Game: "blockbattle", Net: randomNet(t, in, rounded, 1)}.Source()
	require.NoError(t, err)
	require.Equal(t, fewestBits, f.Bits)
	_, err = Bot{Game: "blockbattle", Net: randomNet(t, in, rounded+1, 1)}.Source()
	require.ErrorContains(t, err, fitting(randomNet(t, in, 1, 1), f.Room))
	t.Logf("%d characters for a network: %s", f.Room, fitting(randomNet(t, in, 1, 1), f.Room))

	_, err = Bot{Game: "blockbattle", Net: randomNet(t, in, 300, 300, 1)}.Source()
	require.ErrorContains(t, err, "hidden units in each of 2 layers")
}
