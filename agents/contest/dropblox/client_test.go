package dropblox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/env/dropblox"
	"blockyard/env/envtest"
)

func TestReadConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.txt")
	require.ErrorIs(t, envtest.Failed(ReadConfig(path)), os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("\ufeffBlue Whales \r\n s3cret\r\nanything else"), 0o600))
	require.Equal(t, Config{"Blue Whales", "s3cret"}, envtest.Must(ReadConfig(path)))
	for text, want := range map[string]string{
		"":                               "config.txt: want two lines",
		"a":                              "want two lines",
		"\nb":                            "line 1",
		"a\n":                            "line 2",
		strings.Repeat("a", 100) + "\nb": "line 1: a team name of 100 bytes",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.ErrorContains(t, envtest.Failed(ReadConfig(path)), want)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("a\nb\n")
	f.Add("\xff\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parseConfig(text); err == nil {
			require.Equal(t, c, envtest.Must(parseConfig(c.Team+"\r\n"+c.Password)))
		}
	})
}

// FuzzRemote takes any text as the replies of a contest's server to a client: the first one opens a game, the second
// one answers a turn. Each is refused, or a position that is shown to a bot.
func FuzzRemote(f *testing.F) {
	var begin dropblox.State
	require.NoError(f, begin.ResetSeed("7"))
	text := string(JSON(&begin))
	good := `{"ret": "ok", "game": {"id": "A1", "number_moves_made": 3, "game_state": ` + text +
		`}, "competition_seconds_remaining": 299}`
	f.Add(good, good)
	f.Add(good, strings.Replace(good, "299", "-1e5", 1))
	f.Add(good, `{"ret": "fail", "code": 1005, "game_state": `+text+`}`)
	f.Add(`{"ret": "ok", "game": {"id": "../x", "number_moves_made": -1}}`, `{"ret": "ok"}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		reply, err := protocol.ReadReply(strings.NewReader(first))
		if err != nil {
			return
		}
		r, err := newRemote(nil, reply)
		if err != nil {
			return
		}
		require.NoError(t, CheckID(r.ID))
		shown(t, r)
		if reply, err = protocol.ReadReply(strings.NewReader(second)); err != nil {
			return
		}
		if r.answered(reply, r.turns) == nil {
			shown(t, r)
		}
	})
}

// shown requires a status that a bot can read.
func shown(t *testing.T, r *Remote) {
	status := r.Status()
	envtest.Must(dropblox.ParsePosition(status.State))
	require.Less(t, status.Left, 1e6*time.Second+time.Second)
	require.GreaterOrEqual(t, status.Turns, 0)
}
