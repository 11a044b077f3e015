package checkpoint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A game is read as it was written; any byte changed, cut off or added, another kind and another version are refused.
func TestGames(t *testing.T) {
	const kind = 7
	g := &Game{Snapshot: []byte("position"), Opponents: []Agent{{Seat: 1, Number: 513, Memory: []byte("m")}},
		Policy: []Agent{{Seat: 0, At: Episode{1, 2, 3}, Memory: []byte{}}}}
	one := g.Append([]byte("before"), kind)[len("before"):]
	first, rest, err := Cut(append(append([]byte{}, one...), "rest"...))
	require.NoError(t, err)
	require.Equal(t, "rest", string(rest))
	back, err := Parse(first, kind)
	require.NoError(t, err)
	require.Equal(t, g, back)
	_, err = Parse(one, kind+1)
	require.ErrorContains(t, err, "of another game")
	for k := range one {
		_, _, err := Cut(one[:k])
		require.Error(t, err, k)
		damaged := append([]byte{}, one...)
		damaged[k]++
		first, _, err := Cut(damaged)
		if err == nil {
			_, err = Parse(first, kind)
		}
		require.Error(t, err, k)
	}
	damaged := append([]byte{}, one...)
	damaged[3] = 9
	_, _, err = Cut(damaged)
	require.ErrorContains(t, err, "version 9")
}
