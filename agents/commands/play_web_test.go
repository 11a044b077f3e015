package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/web/webtest"
)

// TestPlayInTheBrowser: the command prints the address of a page, by which a person plays, and records the game when it is
// interrupted.
func TestPlayInTheBrowser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "played.jsonl")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &firstLine{line: make(chan string, 1)}
	ended := make(chan int)
	var errs bytes.Buffer
	go func() {
		con := &console{In: strings.NewReader(""), Out: out, Err: &errs}
		ended <- run(ctx, []string{"play", "blockbattle", "--a", "first", "--b", "human", "--web", "--record", file}, con)
	}()
	address, token, ok := strings.Cut(strings.TrimSpace(<-out.line), "#")
	require.True(t, ok)
	webtest.Refuses(t, strings.Trim(address, "htp:/"), "/", http.StatusOK)
	ask := func(method, path, body string) map[string]any {
		r, err := http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		reply, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer reply.Body.Close()
		require.Equal(t, 200, reply.StatusCode)
		got := map[string]any{}
		require.NoError(t, json.NewDecoder(reply.Body).Decode(&got))
		return got
	}
	p := ask("GET", "api/position?after=-1", "")
	for p["seat"] != 1. {
		p = ask("GET", "api/position?after="+text(t, p["version"]), "")
	}
	action := p["moves"].([]any)[0].(map[string]any)["action"]
	ask("POST", "api/choose", `{"version":`+text(t, p["version"])+`,"action":`+text(t, action)+`}`)
	for p["frame"].(map[string]any)["turn"] != 1. || p["seat"] != 1. {
		p = ask("GET", "api/position?after="+text(t, p["version"]), "")
	}
	stop()
	select {
	case status := <-ended:
		require.Zero(t, status, errs.String())
	case <-time.After(time.Minute):
		require.Fail(t, "the command goes on")
	}
	recs := checked(t, file)
	require.Equal(t, []string{"first", "human"}, recs[0].Agents)
	require.Len(t, recs[0].Choices, 2)
	require.True(t, recs[0].Stopped)

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for line, want := range map[string]string{
		"play blocking --web --a hand":                          "--web without a person",
		"play blocking --web --a human --b nobody":              "nobody",
		"play wintetris --web --speed=-1":                       "want more than 0 for a person",
		"play blocking --web --speed 2":                         "--speed is for WinTetris in real time",
		"play blocking --web --show":                            "--show is for the terminal",
		"play blocking --open --a human":                        "--open needs --web",
		"play blocking --web --record /none/played.jsonl":       "the games could not be recorded: name another file (--record): ",
		"play wintetris --web --plugin x":                       "--web and --plugin can't be used together",
		"play blocking --web --listen " + taken.Addr().String(): "name another address with --listen",
	} {
		status, _, errs := agents(t.Context(), line)
		require.NotZero(t, status, line)
		require.Contains(t, errs, want, line)
	}
}

func text(t *testing.T, v any) string {
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

// firstLine passes on the first line that is written to it.
type firstLine struct {
	line chan string
	done bool
}

func (f *firstLine) Write(b []byte) (int, error) {
	if !f.done {
		f.done = true
		f.line <- string(b)
	}
	return len(b), nil
}
