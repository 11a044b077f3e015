package protocol

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadRequest(t *testing.T) {
	const request = ` {"team_name": "a", "password": "b", "game_id": 17, "move_list": [], "moves_made": 0, "more": [1]} `
	r, err := ReadRequest(strings.NewReader(request))
	require.NoError(t, err)
	require.NoError(t, r.CheckMove())
	require.Equal(t, ID("17"), *r.Game)
	require.Empty(t, *r.Moves)
	for text, want := range map[string]string{
		``:                                     "want a JSON object",
		`null`:                                 "want a JSON object",
		`[]`:                                   "want a JSON object",
		`{`:                                    "unexpected end",
		`{} {}`:                                "after top-level value",
		`{"team_name": 1}`:                     "team_name",
		`{"game_id": []}`:                      "a game's id is a string or a number",
		`{"move_list": "left"}`:                "move_list",
		`{"move_list": ["left", 1]}`:           "move_list",
		`{"moves_made": "1"}`:                  "moves_made",
		`{"moves_made": 1.5}`:                  "moves_made",
		`{"moves_made": 99999999999999999999}`: "moves_made",
		`{"team_name": "` + strings.Repeat("a", MaxName+1) + `"}`:               "team_name is longer",
		`{"password": "` + strings.Repeat("a", MaxSecret+1) + `"}`:              "password is longer",
		`{"move_list": [""` + strings.Repeat(`,""`, MaxMoves) + `]}`:            "move_list is longer",
		`{"a":` + strings.Repeat(`[`, 20000) + strings.Repeat(`]`, 20000) + `}`: "exceeded max depth",
	} {
		_, err := ReadRequest(strings.NewReader(text))
		require.ErrorContains(t, err, want, "%.60s", text)
	}
	for text, want := range map[string]string{
		`{}`:                                  "game_id is missing",
		`{"game_id": "a"}`:                    "move_list is missing",
		`{"game_id": "a", "move_list": null}`: "move_list is missing",
		`{"game_id": "a", "move_list": []}`:   "moves_made is missing",
	} {
		r, err := ReadRequest(strings.NewReader(text))
		require.NoError(t, err)
		require.EqualError(t, r.CheckMove(), want)
	}
}

func TestReadReply(t *testing.T) {
	r, err := ReadReply(strings.NewReader(`{"ret": "ok", "game":
		{"id": "A1", "number_moves_made": 3, "game_state": {"score": 1}, "x": 1}, "competition_seconds_remaining": 299}`))
	require.NoError(t, err)
	require.Equal(t, 299.0, *r.Seconds)
	require.Equal(t, `{"score": 1}`, string(r.Game.State))
	for _, text := range []string{
		``, `{}`, `{"ret": "no"}`, `{"ret": 1}`, strings.Repeat(" ", MaxReply) + `{"ret": "ok"}`,
	} {
		_, err := ReadReply(strings.NewReader(text))
		require.Error(t, err)
	}
}

// FuzzMessages reads any text as a request, and as a server's reply. One that is accepted is the same after it was written.
func FuzzMessages(f *testing.F) {
	f.Add(`{"team_name": "a", "password": "b", "game_id": 17, "move_list": ["left"], "moves_made": 0}`)
	f.Add(`{"game_id": "x", "move_list": [], "moves_made": -1}`)
	f.Add(`{"ret": "ok", "game": {"id": "A1", "number_moves_made": 3, "game_state": {"score": 1}}, "wait_time": 0.5}`)
	f.Add(`{"ret": "fail", "code": 1002, "reason": "no such game", "game_state": null}`)
	f.Add(`{"ret": "wait", "game": {"id": 17}, "competition_seconds_remaining": 1e400}`)
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ReadRequest(strings.NewReader(text)); err == nil {
			_ = r.CheckMove()
			again, err := ReadRequest(strings.NewReader(written(t, r)))
			if err == nil { // a name may grow when its broken bytes are replaced
				require.Equal(t, r, again)
			}
		}
		if r, err := ReadReply(strings.NewReader(text)); err == nil {
			require.Contains(t, []string{OK, Wait, Fail}, r.Ret)
			again, err := ReadReply(strings.NewReader(written(t, r)))
			require.NoError(t, err)
			require.Equal(t, written(t, r), written(t, again))
		}
	})
}

func written(t *testing.T, message any) string {
	text, err := json.Marshal(message)
	require.NoError(t, err)
	return string(text)
}
