package protocol

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzReadReply reads any text as a server's reply. One that is accepted is the same after it was written.
func FuzzReadReply(f *testing.F) {
	f.Add(`{"ret": "ok", "game": {"id": "A1", "number_moves_made": 3, "game_state": {"score": 1}}, "wait_time": 0.5}`)
	f.Add(`{"ret": "fail", "code": 1002, "reason": "no such game", "game_state": null}`)
	f.Add(`{"ret": "wait", "game": {"id": 17}, "competition_seconds_remaining": 1e400}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadReply(strings.NewReader(text))
		if err != nil {
			return
		}
		require.Contains(t, []string{OK, Wait, Fail}, r.Ret)
		out, err := json.Marshal(r)
		require.NoError(t, err)
		again, err := ReadReply(strings.NewReader(string(out)))
		require.NoError(t, err)
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(out), string(twice))
	})
}
