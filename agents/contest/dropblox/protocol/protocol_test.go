package protocol

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

func TestReadRequest(t *testing.T) {
	const request = ` {"team_name": "a", "password": "b", "game_id": 17, "move_list": [], "moves_made": 0, "more": [1]} `
	r := envtest.Must(ReadRequest(strings.NewReader(request)))
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
		require.ErrorContains(t, envtest.Failed(ReadRequest(strings.NewReader(text))), want, "%.60s", text)
	}
	for text, want := range map[string]string{
		`{}`:                                  "game_id is missing",
		`{"game_id": "a"}`:                    "move_list is missing",
		`{"game_id": "a", "move_list": null}`: "move_list is missing",
		`{"game_id": "a", "move_list": []}`:   "moves_made is missing",
	} {
		require.EqualError(t, envtest.Must(ReadRequest(strings.NewReader(text))).CheckMove(), want)
	}
}

func TestReadReply(t *testing.T) {
	r := envtest.Must(ReadReply(strings.NewReader(`{"ret": "ok", "game":
		{"id": "A1", "number_moves_made": 3, "game_state": {"score": 1}, "x": 1}, "competition_seconds_remaining": 299}`)))
	require.Equal(t, 299.0, *r.Seconds)
	require.Equal(t, `{"score": 1}`, string(r.Game.State))
	for _, text := range []string{
		``, `{}`, `{"ret": "no"}`, `{"ret": 1}`, strings.Repeat(" ", MaxReply) + `{"ret": "ok"}`,
	} {
		require.Error(t, envtest.Failed(ReadReply(strings.NewReader(text))))
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
			again, err := ReadRequest(strings.NewReader(written(r)))
			if err == nil { // a name may grow when its broken bytes are replaced
				require.Equal(t, r, again)
			}
		}
		if r, err := ReadReply(strings.NewReader(text)); err == nil {
			require.Contains(t, []string{OK, Wait, Fail}, r.Ret)
			require.Equal(t, written(r), written(envtest.Must(ReadReply(strings.NewReader(written(r))))))
		}
	})
}

func written(message any) string { return string(envtest.Must(json.Marshal(message))) }
