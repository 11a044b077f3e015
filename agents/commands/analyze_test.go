package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env/blockbattle"
)

// strictly decodes all of text into v, and refuses fields that v does not have.
func strictly(t *testing.T, text string, v any) {
	t.Helper()
	in := json.NewDecoder(strings.NewReader(text))
	in.DisallowUnknownFields()
	require.NoError(t, in.Decode(v))
	require.ErrorIs(t, in.Decode(new(any)), io.EOF, "one line")
}

func TestAnalyzeATurn(t *testing.T) {
	const file = "../../datasets/games/blockbattle.jsonl"
	out := succeeds(t, "analyze "+file+"#32 --agent hand --moves 3")
	for _, want := range []string{
		"game 1 of blockbattle, turn 32 of 63", "iiii......", "values by hand: points of the hand-tuned baseline: ",
		"hand (seat 1), 18 legal moves\nplayed r0 x0 y8: rank 2, -255.4, -3.73 against the best\n", "hand (seat 2), 17 legal moves", "expected next",
		"\n>  2     r0 x0 y8   -255.4  -3.73  ",
	} {
		require.Contains(t, out, want)
	}
	for _, place := range []string{"#32", "#1/32", "#32 --game 1"} {
		out = succeeds(t, "analyze "+file+place+" --json")
		var got analysis.Position
		strictly(t, out, &got)
		require.Equal(t, "learned", got.Agent)
		require.Equal(t, 32, got.Turn)
		require.Len(t, got.Seats, 2)
		require.Len(t, got.Seats[0].Moves, 5)
		require.Equal(t, "r0 x0 y8", got.Seats[0].Played.Text)
		require.Positive(t, got.Seats[0].Played.Loss)
		require.Len(t, got.Seats[0].Moves[0].Line, 1)
	}
}

func TestAnalyzeAGame(t *testing.T) {
	const file = "../../datasets/games/blockbattle.jsonl"
	own := filepath.Join(t.TempDir(), "own.jsonl")
	succeeds(t, "play blockbattle -a hand:ply=1 --record "+own)
	out := succeeds(t, "analyze "+own+" --agent hand:ply=1")
	require.Regexp(t, `hand:ply=1 \(seat 1\)  \d+ +100 % +0\n`, out, "an agent plays what it thinks best")
	require.NotContains(t, out, "largest losses")
	weights, baseline := filepath.Join(t.TempDir(), "w.json"), bots.Of(blockbattle.Game).Baseline
	require.NoError(t, os.WriteFile(weights, baseline.Format(baseline.Weights), 0o600))
	out = succeeds(t, "analyze "+own+" --agent me=hand:ply=1,weights="+weights)
	require.Contains(t, out, "values by me: points of the hand-tuned baseline")
	out = succeeds(t, "analyze "+file+" --moves 2")
	_, list, found := strings.Cut(out, "\nlargest losses\n")
	require.True(t, found)
	require.Equal(t, 3, strings.Count(list, "\n"), "a head and two moves")
	out = succeeds(t, "analyze "+file+" --json")
	var got analysis.Game
	strictly(t, out, &got)
	require.Len(t, got.Decisions, 126)
	require.Equal(t, 64, got.Turns)

	text := gameText{Game: &analysis.Game{Stopped: true}}
	require.Contains(t, text.String(), "\nstopped early\n")
}

func TestAnalyzeRefuses(t *testing.T) {
	const one, several = "../../datasets/games/blockbattle.jsonl", "../../datasets/games/wintetris.jsonl"
	for _, c := range []struct {
		line   string
		status int
		want   string
	}{
		{"", 2, "<record#turn>"},
		{one + " " + one, 2, "want one record"},
		{one + "#x", 2, "want #TURN or #GAME/TURN"},
		{one + "#1/-2", 2, "want #TURN or #GAME/TURN"},
		{one + "#0/2", 2, "want #TURN or #GAME/TURN"},
		{one + "#2/2 --game 1", 2, "which game?"},
		{one + "#64", 1, "no turn 64, want 0 to 63"},
		{one + "#2/3", 1, "no game 2, the file has 1"},
		{several + "#3", 1, "has several games: say which with --game N, or as " + several + "#1/3 for turn 3 of the first"},
		{several, 1, "has several games"},
		{several + "#1/3 --agent learned:ply=2", 1, `unknown option "ply"`},
		{one + "#3 --agent nobody", 1, `unknown agent "nobody"`},
		{one + "#3 --agent random", 1, "it gives no values to actions"},
		{"/no/such/file#3", 1, "no such file"},
		{one + "#3 --open", 2, "--open needs --web"},
		{one + "#3 --moves 0", 2, "--moves 0: want a number from 1"},
		{one + " --web --json", 2, "--json and --web can't be used together"},
	} {
		status, out, errs := agents(t.Context(), "analyze "+c.line)
		require.Equal(t, c.status, status, c.line)
		require.Empty(t, out, c.line)
		require.Contains(t, errs, c.want, c.line)
	}
}

// A record that does not replay is analysed as far as it does, and the command fails.
func TestAnalyzeABrokenRecord(t *testing.T) {
	text, err := os.ReadFile("../../datasets/games/blockbattle.jsonl")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "broken.jsonl")
	broken := bytes.Replace(text, []byte(`"scores":[`), []byte(`"scores":[9`), 1)
	require.NoError(t, os.WriteFile(file, broken, 0o600))
	status, out, errs := agents(t.Context(), "analyze "+file+"#5")
	require.Equal(t, 1, status)
	require.Contains(t, out, "turn 5 of 63")
	require.Contains(t, errs, "the record does not replay: the replayed game differs from the record: scores [")
}

// In a browser, the page gets the same analyses, by the agents of the list only.
func TestAnalyzeWeb(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	status := make(chan int)
	var errs bytes.Buffer
	go func() {
		args := strings.Fields("analyze ../../datasets/games/blockbattle.jsonl#32 --web --agent hand:ply=1")
		status <- run(ctx, args, &console{In: strings.NewReader(""), Out: out, Err: &errs})
	}()
	line, err := bufio.NewReader(in).ReadString('\n')
	require.NoError(t, err, errs.String())
	home, place, _ := strings.Cut(strings.TrimSpace(line), "#")
	require.Equal(t, "blockbattle.jsonl:1/32", place)
	webtest.Refuses(t, strings.Trim(home, "htp:/"), "/", http.StatusOK)
	ask := func(agent string) (int, string) {
		reply, err := http.Get(home + "api/analysis?id=blockbattle.jsonl:1&turn=32&agent=" + url.QueryEscape(agent))
		require.NoError(t, err)
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		require.NoError(t, err)
		return reply.StatusCode, string(text)
	}
	code, text := ask("hand:ply=1")
	require.Equal(t, http.StatusOK, code)
	var got analysis.Position
	strictly(t, text, &got)
	require.Equal(t, "hand:ply=1", got.Agent)
	require.Len(t, got.Seats, 2)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("hush"), 0o600))
	for _, agent := range []string{"learned:weights=" + secret, "exec:true", "", "hand:ply=6"} {
		code, text = ask(agent)
		require.Equal(t, http.StatusUnprocessableEntity, code)
		require.Contains(t, text, "want one of")
		require.NotContains(t, text, "hush")
	}
	cancel()
	require.Zero(t, <-status)
}
