package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
)

func deployed(t *testing.T, file string) []byte {
	t.Helper()
	return must(os.ReadFile(file))
}

// parses asserts that a command line is one of this program.
func parses(t *testing.T, args []string) {
	t.Helper()
	_, err := Program().Parse(t.Context(), args)
	require.NoError(t, err, "%q", args)
}

// The image starts the server and checks its health with flags that exist, at the address that CMD serves. Both images
// have the licenses.
func TestDockerfile(t *testing.T) {
	text := string(deployed(t, "../Dockerfile"))
	require.Contains(t, text, " && cp LICENSE .github/NOTICES /image/all/ \\\n")
	require.Equal(t, 2, strings.Count(text, "\nFROM scratch AS "))
	require.Equal(t, 2, strings.Count(text, "\nCOPY --from=build /image/all /\n"))
	var last []string
	for _, cmd := range regexp.MustCompile(`\bCMD (\[.*\])`).FindAllStringSubmatch(text, -1) {
		require.NoError(t, json.Unmarshal([]byte(cmd[1]), &last))
		if last[0] == "/blockyard-server" {
			require.Contains(t, text, `"--http", "0.0.0.0:`+last[len(last)-1][len("http://127.0.0.1:"):]+`"`)
			last = last[1:]
		}
		parses(t, last)
	}
	require.Equal(t, "serve", last[0])
}

// The manifests name the images of this version and flags that exist.
func TestManifests(t *testing.T) {
	files := must(filepath.Glob("../deploy/kubernetes/*.yaml"))
	require.NotEmpty(t, files)
	for _, file := range files {
		text := string(deployed(t, file))
		images := regexp.MustCompile(`image: (.*)`).FindAllStringSubmatch(text, -1)
		require.Len(t, images, 1, file)
		require.Regexp(t, `^blockyard-(server|train):`+regexp.QuoteMeta(version)+`$`, images[0][1])
		if !strings.HasSuffix(file, "servers.yaml") {
			continue
		}
		_, list, _ := strings.Cut(text, "args:\n")
		list, _, _ = strings.Cut(list, "env:")
		var args []string
		for _, a := range regexp.MustCompile(`- (\S+)`).FindAllStringSubmatch(list, -1) {
			args = append(args, a[1])
		}
		require.Greater(t, len(args), 3)
		parses(t, args)
	}
}

// The folder for OpenEnv keeps what its openenv.yaml declares of a server with its settings: the oracle wins, by the
// state that it injects and move by move, and a reset earns nothing; canaries stay below it; nothing changes from one
// time to the next, or by another episode; tools are the declared ones. The image has no oracle.
func TestOpenEnvFolder(t *testing.T) {
	const folder = "../deploy/openenv/"
	app, declared := string(deployed(t, folder+"server/app.py")), string(deployed(t, folder+"openenv.yaml"))
	flags := regexp.MustCompile(`--openenv-tools=[a-z,_]+`).FindString(app)
	tools := strings.Split(regexp.MustCompile(`declared_tools: \[(.*)\]`).FindStringSubmatch(declared)[1], ", ")
	require.Equal(t, "--openenv-tools="+strings.Join(tools, ","), flags)
	require.Contains(t, declared, "range: [-1.0, 1.0]\n    oracle_tolerance: 0.0\n    floor_margin: 0.1\n")
	require.Contains(t, declared, "location: validation/oracle.json\n    set_state: true\n    canaries: validation/canaries.jsonl")
	image := string(deployed(t, folder+"Dockerfile"))
	require.Contains(t, image, "\nCOPY server /app/server\n")
	require.NotContains(t, image, "COPY .")
	p := serve(t, "--openenv", "127.0.0.1:0", "--game", "BlockBattle-v0", flags)
	ask := func(path, body string) map[string]any { return p.ask(t, path, body) }
	var oracle struct {
		Seed  uint64
		Moves []string
	}
	text := deployed(t, folder+"validation/oracle.json")
	require.NoError(t, json.Unmarshal(text, &oracle))
	for range 2 { // the verifier is deterministic
		r := ask("/reset", `{"episode_id": "a", "injected_state": `+string(text)+`}`)
		require.EqualValues(t, 1, r["reward"])
		require.Equal(t, true, r["done"])
		require.EqualValues(t, 1, r["observation"].(map[string]any)["result"])
	}
	begin := fmt.Sprintf(`{"seed": %d, "episode_id": "b"}`, oracle.Seed)
	first := ask("/reset", begin)
	require.Nil(t, first["reward"], "what nobody plays for earns nothing")
	require.EqualValues(t, 0, first["observation"].(map[string]any)["result"])
	var last map[string]any
	for k, move := range oracle.Moves {
		last = ask("/step", fmt.Sprintf(`{"episode_id": "b", "action": {"move": %q}}`, move))
		reward := last["reward"].(float64)
		require.True(t, -1 <= reward && reward <= 1)
		require.Equal(t, k == len(oracle.Moves)-1, last["done"])
		ask("/reset", fmt.Sprintf(`{"seed": %d, "episode_id": "c"}`, k))
	}
	require.EqualValues(t, 1, last["reward"])
	require.Equal(t, first, ask("/reset", begin), "the same seed is the same episode")
	other := ask("/reset", `{"seed": 1, "episode_id": "b"}`)
	require.NotEqual(t, first["observation"].(map[string]any)["text"], other["observation"].(map[string]any)["text"])
	out, _ := reverify(t, program.Done, folder+"validation/canaries.jsonl")
	require.Contains(t, out, "9 rollouts, 0 with other rewards")
	for line := range strings.Lines(string(deployed(t, folder+"validation/canaries.jsonl"))) {
		var s struct {
			Moves       []string
			TotalReward float64 `json:"total_reward"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		require.Negative(t, s.TotalReward, s.Moves)
	}
	listed := ask("/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)["result"].(map[string]any)["tools"].([]any)
	for k := range listed {
		require.Equal(t, tools[k], listed[k].(map[string]any)["name"])
	}
	require.Len(t, listed, len(tools))
}
