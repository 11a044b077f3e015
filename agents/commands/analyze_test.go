package commands

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

const recordedGame = "../../datasets/games/blockbattle.jsonl"

func TestAnalyzeATurn(t *testing.T) {
	out := succeeds(t, "analyze "+recordedGame+"#32 --agent hand --moves 3")
	envtest.Has(t, out, "game 1 of blockbattle, turn 32 of 63", "iiii......",
		"values by hand: points of the hand-tuned baseline: ",
		"hand (seat 1), 18 legal moves\nplayed r0 x0 y8: rank 2, -255.4, -3.73 against the best\n", "expected next",
		"\n>  2     r0 x0 y8   -255.4  -3.73  ")
	one := succeeds(t, "analyze "+recordedGame+"#32 --json")
	got := decoded[analysis.Position](t, one)
	require.Equal(t, []any{"learned", 32, 2}, []any{got.Agent, got.Turn, len(got.Seats)})
	require.Len(t, got.Seats[0].Moves, 5)
	require.Len(t, got.Seats[0].Moves[0].Line, 1)
	for _, place := range []string{"#1/32", "#32 --game 1"} {
		require.Equal(t, one, succeeds(t, "analyze "+recordedGame+place+" --json"))
	}
}

func TestAnalyzeAGame(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.jsonl")
	succeeds(t, "play blockbattle -a hand:ply=1 --record "+own)
	out := succeeds(t, "analyze "+own+" --agent hand:ply=1")
	require.Regexp(t, `hand:ply=1 \(seat 1\)  \d+ +100 % +0\n`, out, "an agent plays what it thinks best")
	require.NotContains(t, out, "largest losses")
	baseline := bots.Of(blockbattle.Game).Baseline
	weights := envtest.File(t, "w.json", string(baseline.Format(baseline.Weights)))
	out = succeeds(t, "analyze "+own+" --agent me=hand:ply=1,weights="+weights)
	require.Contains(t, out, "values by me: points of the hand-tuned baseline")
	_, list, found := strings.Cut(succeeds(t, "analyze "+recordedGame+" --moves 2"), "\nlargest losses\n")
	require.True(t, found)
	require.Equal(t, 3, strings.Count(list, "\n"), "a head and two moves")
	got := decoded[analysis.Game](t, succeeds(t, "analyze "+recordedGame+" --json"))
	require.Len(t, got.Decisions, 126)
	require.Equal(t, 64, got.Turns)

	text := gameText{Game: &analysis.Game{Stopped: true}}
	require.Contains(t, text.String(), "\nstopped early\n")
}

func TestAnalyzeRefuses(t *testing.T) {
	const one, several = recordedGame, "../../datasets/games/wintetris.jsonl"
	misused(t, "analyze ", map[string]string{
		"":                    "<record#turn>",
		one + " " + one:       "want one record",
		one + "#x":            "want #TURN or #GAME/TURN",
		one + "#1/-2":         "want #TURN or #GAME/TURN",
		one + "#0/2":          "want #TURN or #GAME/TURN",
		one + "#2/2 --game 1": "which game?",
		one + "#3 --open":     "--open needs --web",
		one + "#3 --moves 0":  "--moves 0: want a number from 1",
		one + " --web --json": "--json and --web can't be used together",
	})
	for line, why := range map[string]string{
		one + "#64":                            "no turn 64, want 0 to 63",
		one + "#2/3":                           "no game 2, the file has 1",
		several + "#3":                         "has several games: say which with --game N, or as " + several + "#1/3 for turn 3 of the first",
		several:                                "has several games",
		several + "#1/3 --agent learned:ply=2": `unknown option "ply"`,
		one + "#3 --agent nobody":              `unknown agent "nobody"`,
		one + "#3 --agent random":              "it gives no values to actions",
		"/no/such/file#3":                      "no such file",
	} {
		fails(t, 1, why, "analyze "+line)
	}
}

// A record that does not replay is analysed as far as it does, and the command fails.
func TestAnalyzeABrokenRecord(t *testing.T) {
	file := envtest.File(t, "broken.jsonl", strings.Replace(read(recordedGame), `"scores":[`, `"scores":[9`, 1))
	out, errs := ends(t, 1, "analyze "+file+"#5")
	require.Contains(t, out, "turn 5 of 63")
	require.Contains(t, errs, "the record does not replay: the replayed game differs from the record: scores [")
}

// In a browser, the page gets the same analyses, by the agents of the list only.
func TestAnalyzeWeb(t *testing.T) {
	r := begin(t, nil, "analyze "+recordedGame+"#32 --web --agent hand:ply=1")
	home, place, _ := strings.Cut(r.out.await(t, ".*\n"), "#")
	require.Equal(t, "blockbattle.jsonl:1/32\n", place)
	webtest.Refuses(t, strings.Trim(home, "htp:/"), "/", http.StatusOK)
	ask := func(agent string) (int, string) {
		return opstest.Get(t, home+"api/analysis?id=blockbattle.jsonl:1&turn=32&agent="+url.QueryEscape(agent))
	}
	code, text := ask("hand:ply=1")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "hand:ply=1", decoded[analysis.Position](t, text).Agent)
	secret := envtest.File(t, "secret", "hush")
	for _, agent := range []string{"learned:weights=" + secret, "exec:true", "", "hand:ply=6"} {
		code, text = ask(agent)
		require.Equal(t, http.StatusUnprocessableEntity, code)
		require.Contains(t, text, "want one of")
		require.NotContains(t, text, "hush")
	}
	require.Zero(t, r.stop(t))
}
