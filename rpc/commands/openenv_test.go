package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/record"
	"blockyard/env/envtest"
)

// An object is a JSON object.
type object = map[string]any

// parsed is a text that is a JSON object.
func parsed(t *testing.T, text []byte) (out object) {
	require.NoError(t, json.Unmarshal(text, &out), string(text))
	return out
}

// ask sends JSON to the server of OpenEnv and returns the answer.
func (p *process) ask(t *testing.T, path, body string) object {
	r := envtest.Must(http.Post(p.OpenEnv+path, "application/json", strings.NewReader(body)))
	defer r.Body.Close()
	b := envtest.Must(io.ReadAll(r.Body))
	require.Equal(t, http.StatusOK, r.StatusCode, string(b))
	return parsed(t, b)
}

// observed is the observation of an answer.
func observed(answer object) object { return answer["observation"].(object) }

// serve --openenv serves its game beside --listen or alone, and drains.
func TestServeOpenEnv(t *testing.T) {
	p := serve(t, "--openenv", "127.0.0.1:0", "--game", "BlockBattle-v0", "--opponents", "random", "--illegal-penalty", "2",
		"--reward", "score", "--step-limit", "2", "--drain", "2m", "--legal-moves", "hide")
	require.Empty(t, p.Ready)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, p.OpenEnv)
	require.NoError(t, health(t.Context(), p.OpenEnv+"/health?", &program.Console{Out: io.Discard}))
	webtest.Refuses(t, strings.TrimPrefix(p.OpenEnv, "http://"), "/health", http.StatusOK)
	require.Empty(t, observed(p.ask(t, "/reset", `{"seed": 1}`))["legal_moves"])
	called := observed(p.ask(t, "/step", `{"action": {"type": "call_tool", "tool_name": "children",
		"arguments": {"values": true}}}`))
	require.Nil(t, called["error"])
	children := called["result"].(object)["children"].([]any)
	require.True(t, slices.ContainsFunc(children, func(c any) bool { return c.(object)["value"] != nil }))
	p.signal(t, syscall.SIGTERM)
	for step := range 2 { // over the connection that is open
		r := p.ask(t, "/step", `{"action": {"move": "no"}}`)
		require.EqualValues(t, -2, r["reward"])
		require.Equal(t, step == 1, r["done"])
	}
}

// serve --record has the games of --openenv in its file when the server ends, after those that were there.
func TestOpenEnvRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	for games := 1; games <= 2; games++ {
		p := serve(t, "--openenv", "127.0.0.1:0", "--game", "WinTetris-v0", "--step-limit", "1", "--record", path)
		p.ask(t, "/reset", `{"seed": 7, "episode_id": "e"}`)
		p.ask(t, "/step", `{"episode_id": "e", "action": {"move": "r0 x3"}}`)
		p.signal(t, syscall.SIGTERM)
		p.ends(t)
		in := envtest.Must(record.Open(path))
		count := 0
		for rec, err := range in.All() {
			require.NoError(t, err)
			require.Equal(t, "wintetris", rec.Game)
			require.Equal(t, "e", rec.Meta["episode_id"])
			count++
		}
		require.NoError(t, in.Close())
		require.Equal(t, games, count)
	}
}

// What --openenv cannot serve is refused when the server starts.
func TestOpenEnvRefuses(t *testing.T) {
	for _, args := range []string{"--game wintetris", "--openenv 127.0.0.1:0", "--listen tcp:127.0.0.1:0 --game wintetris",
		"--openenv 127.0.0.1:0 --game wintetris --allowed-host a:80",
		"--openenv 127.0.0.1:0 --game wintetris --openenv-tools=",
		"--openenv 127.0.0.1:0 --game wintetris --legal-moves none", "--listen tcp:127.0.0.1:0 --record games.jsonl"} {
		exits(t, 2, "serve "+args)
	}
	for _, args := range []string{
		"--openenv 127.0.0.1:0 --game chess", "--openenv 127.0.0.1:0 --game wintetris --seat 1",
		"--openenv 127.0.0.1:0 --game blockbattle --opponents smith", "--openenv 127.0.0.1:0 --game blockbattle --seats 3",
		"--openenv 0.0.0.0:0 --game wintetris", "--openenv 127.0.0.1:0 --game wintetris --idle 1ms",
		"--openenv nowhere --game wintetris",
		"--openenv tls:127.0.0.1:0 --game wintetris", "--openenv 127.0.0.1:0 --game wintetris --illegal-penalty=-1",
		"--openenv 127.0.0.1:0 --game wintetris --step-reward=-1", "--openenv 127.0.0.1:0 --game wintetris --step-limit=-1",
		"--openenv 127.0.0.1:0 --game wintetris --openenv-tools play,pley",
		"--openenv 127.0.0.1:0 --game wintetris --record /",
	} {
		exits(t, 1, "serve "+args)
	}
}

// rolloutOf plays a few moves with an illegal one, then one in a branch, and returns the state of the branch as JSON.
func rolloutOf(t *testing.T, reset string, flags ...string) string {
	p := serve(t, append(flags, "--openenv", "127.0.0.1:0")...)
	ask := func(path, body string) object { return observed(p.ask(t, path, body)) }
	seen := ask("/reset", reset)
	legal := func(k int) string { return seen["legal_moves"].([]any)[k].(string) }
	for k := range 4 {
		move := "no"
		if k != 1 {
			move = legal(k)
		}
		seen = ask("/step", fmt.Sprintf(`{"action": {"move": %q}}`, move))
	}
	forked := ask("/step",
		`{"action": {"type": "call_tool", "tool_name": "fork", "arguments": {"n": 1, "seed": 3}}}`)["result"]
	branch := forked.(object)["branches"].([]any)[0].(string)
	ask("/step", fmt.Sprintf(`{"action": {"move": %q}, "episode_id": %q}`, legal(0), branch))
	_, state := opstest.Get(t, p.OpenEnv+"/state?episode_id="+branch)
	require.NotContains(t, state, `"rewards":[]`)
	return state
}

// TestReverify: stored rollouts give the same rewards again, and changed ones are found.
func TestReverify(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rollouts.jsonl")
	write := func(rollouts string) { require.NoError(t, os.WriteFile(file, []byte(rollouts), 0o600)) }
	duel := rolloutOf(t, `{"seed": 1, "seat": 1, "rules": "relabelled"}`, "--game=TetrisDuel-v0", "--opponents=random",
		"--illegal-penalty=0.5", "--step-reward=2")
	require.Contains(t, duel, ",-0.5,")
	drop := rolloutOf(t, `{"seed": 2}`, "--game=Dropblox-v0")

	fresh := filepath.Join(t.TempDir(), "again.jsonl")
	write(duel + "\n\n" + drop + "\n")
	out, _ := runs(t, program.Done, "reverify", file, "--write", fresh)
	require.Contains(t, out, "2 rollouts, 0 with other rewards")
	lines := strings.Split(strings.TrimSpace(string(envtest.Must(os.ReadFile(fresh)))), "\n")
	require.Len(t, lines, 2)
	require.JSONEq(t, duel, lines[0])
	require.JSONEq(t, drop, lines[1])

	changed := parsed(t, []byte(drop))
	rewards := changed["rewards"].([]any)
	rewards[0] = rewards[0].(float64) + 1
	text := envtest.Must(json.Marshal(changed))
	write(duel + "\n" + string(text) + "\n")
	out, _ = runs(t, program.Failed, "reverify", file)
	require.Contains(t, out, file+":2: rewards [")

	for rollouts, wrong := range map[string]string{
		"{": "line 1", "3": "line 1", "{}": "line 1: it has no game", duel + "\n{}": "line 2: it has no game",
		strings.Replace(duel, "TetrisDuel-v0", "Nothing-v0", 1): "line 1", // no such game
	} {
		write(rollouts)
		_, says := runs(t, program.Failed, "reverify", file)
		require.Contains(t, says, wrong)
	}
}

func deployed(t *testing.T, file string) []byte { return envtest.Must(os.ReadFile(file)) }

// parses asserts that a command line is one of this program.
func parses(t *testing.T, args []string) {
	require.NoError(t, envtest.Failed(Program().Parse(t.Context(), args)), "%q", args)
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
	files := envtest.Must(filepath.Glob("../deploy/kubernetes/*.yaml"))
	require.NotEmpty(t, files)
	for _, file := range files {
		text := string(deployed(t, file))
		require.Equal(t, 1, strings.Count(text, "image: "), file)
		require.Regexp(t, `(?m)image: blockyard-(server|train):`+regexp.QuoteMeta(version)+`$`, text)
	}
	_, list, _ := strings.Cut(string(deployed(t, "../deploy/kubernetes/servers.yaml")), "args:\n")
	list, _, _ = strings.Cut(list, "env:")
	args := strings.Fields(regexp.MustCompile(` - |#.*`).ReplaceAllString(list, ""))
	require.Greater(t, len(args), 3)
	parses(t, args)
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
	ask := func(path, body string) object { return p.ask(t, path, body) }
	text := deployed(t, folder+"validation/oracle.json")
	oracle := parsed(t, text)
	moves := oracle["moves"].([]any)
	for range 2 { // the verifier is deterministic
		r := ask("/reset", `{"episode_id": "a", "injected_state": `+string(text)+`}`)
		require.EqualValues(t, 1, r["reward"])
		require.Equal(t, true, r["done"])
		require.EqualValues(t, 1, observed(r)["result"])
	}
	begin := fmt.Sprintf(`{"seed": %v, "episode_id": "b"}`, oracle["seed"])
	first := ask("/reset", begin)
	require.Nil(t, first["reward"], "what nobody plays for earns nothing")
	require.EqualValues(t, 0, observed(first)["result"])
	var last object
	for k, move := range moves {
		last = ask("/step", fmt.Sprintf(`{"episode_id": "b", "action": {"move": %q}}`, move))
		reward := last["reward"].(float64)
		require.True(t, -1 <= reward && reward <= 1)
		require.Equal(t, k == len(moves)-1, last["done"])
		ask("/reset", fmt.Sprintf(`{"seed": %d, "episode_id": "c"}`, k))
	}
	require.EqualValues(t, 1, last["reward"])
	require.Equal(t, first, ask("/reset", begin), "the same seed is the same episode")
	other := ask("/reset", `{"seed": 1, "episode_id": "b"}`)
	require.NotEqual(t, observed(first)["text"], observed(other)["text"])
	out, _ := runs(t, program.Done, "reverify", folder+"validation/canaries.jsonl")
	require.Contains(t, out, "9 rollouts, 0 with other rewards")
	for line := range strings.Lines(string(deployed(t, folder+"validation/canaries.jsonl"))) {
		require.Negative(t, parsed(t, []byte(line))["total_reward"], line)
	}
	listed := ask("/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)["result"].(object)["tools"].([]any)
	require.Len(t, listed, len(tools))
	for k := range listed {
		require.Equal(t, tools[k], listed[k].(object)["name"])
	}
}
