package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestResultsOfAnySize encodes results on both sides of the size at which a map's head changes.
func TestResultsOfAnySize(t *testing.T) {
	for _, pairs := range []int{0, 1, 15, 16, 300} {
		var fields Fields
		want := map[string]int{}
		for k := range pairs {
			fields = append(fields, fmt.Sprint(k), k)
			want[fmt.Sprint(k)] = k
		}
		parts, err := Result(7, fields)
		require.NoError(t, err)
		var got map[string]int
		id, failure, err := ReadResponse(bufio.NewReader(bytes.NewReader(bytes.Join(parts, nil))), &got)
		require.NoError(t, err)
		require.Nil(t, failure)
		require.Equal(t, uint32(7), id)
		require.Equal(t, want, got)
	}
	_, err := Result(7, Fields{"name"})
	require.ErrorContains(t, err, "want pairs")
}
