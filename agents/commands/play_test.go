package commands

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/web/webtest"
	"blockyard/env/envtest"
)

// TestAPersonPlays: moves come from standard input, the game is recorded, and leaving it is no error.
func TestAPersonPlays(t *testing.T) {
	file, python := filepath.Join(t.TempDir(), "g.jsonl"), envtest.File(t, "fall.py", entries["dropper.py"])
	for k, c := range []struct {
		agents, typed, shown string
		names                []string
	}{
		{"--a human --b first", "r0 x0 y19\nq\n", "seat 1, your move", []string{"human", "first"}},
		{"--a Ann=human --b fall=" + python, "q\n", "  Ann\n", []string{"Ann", "fall"}},
		{"-a fall=" + python + " -a hand:ply=1", "", "  fall\n", []string{"fall", "hand:ply=1"}},
	} {
		r := begin(t, strings.NewReader(c.typed), "play blockbattle "+c.agents+" --record "+file)
		require.Zero(t, <-r.ended, r.errs.String())
		require.Contains(t, r.out.String(), c.shown)
		require.Equal(t, c.names, checked(t, file)[k].Agents)
	}
	first := checked(t, file)[0]
	require.Len(t, first.Choices, 2, "one round")
	require.True(t, first.Stopped)
	misused(t, "play ", map[string]string{
		"wintetris --a human":                      "this needs a terminal",
		"blockbattle --b first":                    "--b needs --a",
		"blockbattle --a human -a first":           "--agent and --a can't be used together",
		"blockbattle --a human --b no":             "no",
		"wintetris:tick --a human --speed 0":       "want more than 0 for a person",
		"blockbattle --agent human --agent nobody": "nobody",
	})
}

// position is what the page of a game knows.
type position struct {
	Version int
	Seat    int
	Moves   []struct{ Action int }
	Frame   struct{ Turn int }
}

// TestPlayInTheBrowser: the command prints the address of a page, by which a person plays, and records the game when it is
// interrupted.
func TestPlayInTheBrowser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "played.jsonl")
	game := begin(t, nil, "play blockbattle --a first --b human --web --record "+file)
	address, token, ok := strings.Cut(strings.TrimSpace(game.out.await(t, ".*\n")), "#")
	require.True(t, ok)
	webtest.Refuses(t, strings.Trim(address, "htp:/"), "/", http.StatusOK)
	ask := func(method, path, body string) (p position) {
		r := envtest.Must(http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body)))
		r.Header.Set("Authorization", "Bearer "+token)
		reply := envtest.Must(http.DefaultClient.Do(r))
		defer reply.Body.Close()
		require.Equal(t, 200, reply.StatusCode)
		require.NoError(t, json.NewDecoder(reply.Body).Decode(&p))
		return p
	}
	// asked waits until the person is to move in a turn.
	asked := func(p position, turn int) position {
		for p.Frame.Turn != turn || p.Seat != 1 {
			p = ask("GET", fmt.Sprint("api/position?after=", p.Version), "")
		}
		return p
	}
	p := asked(position{Version: -1}, 0)
	ask("POST", "api/choose", fmt.Sprintf(`{"version":%d,"action":%d}`, p.Version, p.Moves[0].Action))
	asked(p, 1)
	require.Zero(t, game.stop(t), game.errs.String())
	recs := checked(t, file)
	require.Equal(t, []string{"first", "human"}, recs[0].Agents)
	require.Len(t, recs[0].Choices, 2)
	require.True(t, recs[0].Stopped)

	misused(t, "play ", map[string]string{
		"blocking --web --a hand":                    "--web without a person",
		"blocking --web --a human --b nobody":        "nobody",
		"wintetris --web --speed=-1":                 "want more than 0 for a person",
		"blocking --web --speed 2":                   "--speed is for WinTetris in real time",
		"blocking --web --show":                      "--show is for the terminal",
		"blocking --open --a human":                  "--open needs --web",
		"blocking --web --record /none/played.jsonl": "the games could not be recorded: name another file (--record): ",
		"wintetris --web --plugin x":                 "--web and --plugin can't be used together",
	})
	taken := envtest.Closing(t, envtest.Must(net.Listen("tcp", "127.0.0.1:0")))
	fails(t, 1, "name another address with --listen", "play blocking --web --listen "+taken.Addr().String())
}
