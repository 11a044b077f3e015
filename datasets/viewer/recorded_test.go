package viewer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A record of Dropblox is shown as the commands that lead to its resting places: the last
// frame of a turn has the ghost where the next position has the squares, or rows vanish.
func TestDropbloxRecord(t *testing.T) {
	const path, id = "../games/dropblox.jsonl", "dropblox.jsonl:1"
	rec, c := firstOf(t, path), serve(t, path)
	d := c.game(id)
	require.Empty(t, d.Replay.Error)
	require.Len(t, d.Replay.Starts, d.Replay.Turns)
	var all []Frame
	for from := 0; from < d.Replay.Frames; from += chunkSize {
		all = append(all, c.frames(id, from, chunkSize).Frames...)
	}
	turns := 0
	for n, f := range all[:len(all)-1] {
		next := all[n+1]
		require.Len(t, f.Boards, 1)
		if next.Turn == f.Turn || next.Seats[0].Score != f.Seats[0].Score {
			continue
		}
		turns++
		for k := range f.Boards[0].Cells {
			if strings.ContainsRune("xabcdefghij", rune(f.Boards[0].Cells[k])) {
				require.Contains(t, "xABCDEFGHIJ", string(next.Boards[0].Cells[k]), "frame %d, cell %d", n, k)
			}
		}
	}
	require.Greater(t, turns, 10)
	end := all[len(all)-1]
	require.Equal(t, len(rec.Choices), end.Turn)
	require.True(t, end.Red)
	require.Equal(t, fmt.Sprintf("The board is full · %s", points(rec.Scores[0])), end.Over)
}
