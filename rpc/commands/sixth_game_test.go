package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/env/envtest"
)

// lines are what a new game adds to files that exist: one import and one line of a list each.
var lines = []struct{ file, imports, list, line string }{
	{"env/games/games.go", "blockyard/env/envtest/toy", "var All = []*env.Game{", "toy.Pick, toy.Turns,"},
	{"agents/bots/bots.go", "blockyard/agents/bots/entry/toybot", "var All = []*entry.Entry{", "toybot.Entry,"},
}

// TestSixthGame adds the toy games to the two lists, in an overlay of the sources, and opens
// every door with the executable built from that: nothing else may know the games by name.
func TestSixthGame(t *testing.T) {
	h := house{dir: t.TempDir()}
	h.build(t)
	t.Run("arena", h.arena)
	t.Run("contest", h.contest)
	t.Run("records", h.records)
	t.Run("training", h.training)
	t.Run("server", h.server)
}

// A house is the executable with all commands and the sixth game in it.
type house struct{ dir string }

func (h house) build(t *testing.T) {
	overlay := map[string]string{}
	for k, l := range lines {
		path := envtest.Must(filepath.Abs(filepath.Join("../..", l.file)))
		text := envtest.Must(os.ReadFile(path))
		for before, line := range map[string]string{"import (": `"` + l.imports + `"`, l.list: l.line} {
			require.Equal(t, 1, bytes.Count(text, []byte(before)), "%s: %s", path, before)
			text = bytes.Replace(text, []byte(before), []byte(before+"\n\t"+line), 1)
		}
		overlay[path] = filepath.Join(h.dir, string(rune('a'+k))+".go")
		require.NoError(t, os.WriteFile(overlay[path], text, 0o600))
	}
	text := envtest.Must(json.Marshal(map[string]any{"Replace": overlay}))
	file := filepath.Join(h.dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", file, "-ldflags=-s -w",
		"-o", filepath.Join(h.dir, "blockyard"), "blockyard/rpc/blockyard")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// run runs a program in the house's folder and returns its standard output.
func (h house) run(t *testing.T, program string, args ...string) string {
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, filepath.Join(h.dir, "blockyard"), append([]string{program}, args...)...)
	cmd.Dir = h.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "%s %s: %s", program, strings.Join(args, " "), errs.String())
	return out.String()
}

func (h house) json(t *testing.T, into any, args ...string) {
	require.NoError(t, json.Unmarshal([]byte(h.run(t, "agents", append(args, "--json")...)), into))
}

// share is the share of 100 games of toy:pick that an agent wins against a random one.
func (h house) share(t *testing.T, agent string) float64 {
	var got match.Report
	h.json(t, &got, "arena", "toy:pick", "--a", agent, "--b", "random", "--games", "100")
	return got.Meetings[0].Score.Value
}

func (h house) arena(t *testing.T) {
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "w.json"), []byte(`{"points": 1, "lead": 0.5}`), 0o600))
	require.Greater(t, h.share(t, "hand"), 0.8)
	require.Greater(t, h.share(t, "hand:weights=w.json"), 0.8)
	var three match.Report
	h.json(t, &three, "arena", "toy:turns", "--a", "hand", "--b", "random", "--games", "60")
	require.Equal(t, 3, three.Seats)
	require.Less(t, three.Players[0].Rank.Value, 1.8)
}

// contest plays the contest of the game between agents, programs and sources, with a flag of its own.
func (h house) contest(t *testing.T) {
	python := "for line in open(0):\n    print(line.split()[3], flush=True)\n" // takes the most that a card offers
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "most.py"), []byte(python), 0o600))
	bots := []string{"--bot", "mine=most.py", "--bot", "exec:./blockyard bot toy:turns --agent random", "--bot", "hand"}
	out := h.run(t, "agents", append([]string{"host", "toy:turns", "--games", "3", "--card-time", "9s", "--record", "hosted.jsonl"},
		bots...)...)
	require.Contains(t, out, "mine")
	require.Contains(t, h.run(t, "datasets", "check", "hosted.jsonl"), "hosted.jsonl: 3 games, 0 differ")
	h.run(t, "agents", "ladder", "toy:pick", "mine=most.py", "hand", "random", "--games", "2", "--out", "ladder")
	var table tournament.Report
	h.json(t, &table, "tournament", "toy:pick", "mine=most.py", "easy=random", "hand:ply=1", "--finals", "0", "--out", "tournament")
	require.Empty(t, table.Refused)
	require.Len(t, table.Players, 3)
}

// records records games and reads them with every tool.
func (h house) records(t *testing.T) {
	shown := h.run(t, "agents", "play", "toy:pick", "-a", "hand", "-a", "random", "--record", "games.jsonl", "--seed", "2")
	require.Contains(t, shown, "toy:pick, seed 2")
	require.Contains(t, h.run(t, "agents", "analyze", "games.jsonl#3", "--agent", "me=hand:ply=1"), "values by me")
	h.run(t, "agents", "play", "toy:turns", "-a", "hand", "--record", "turns.jsonl")
	require.Contains(t, h.run(t, "datasets", "check", "games.jsonl", "turns.jsonl"), "turns.jsonl: 1 games, 0 differ")
	require.Contains(t, h.run(t, "datasets", "stat", "turns.jsonl"), "toy:turns: 1 games")
	require.Contains(t, h.run(t, "datasets", "view", "--all", "--no-color", "games.jsonl"), "card\n")
	require.Contains(t, h.run(t, "datasets", "export", "--parquet", "parquet", "games.jsonl"), "1 games")
}

// training trains a network and lets it play.
func (h house) training(t *testing.T) {
	h.run(t, "train", "selfplay", "toy:pick", "--out", "run", "--iterations", "100", "--games", "32", "--rounds", "24",
		"--batch", "64", "--gates", "1", "--gate-pairs", "10")
	require.Greater(t, h.share(t, "learned:weights=run/best.safetensors"), 0.7)
}

// server steps the games through the wire, against an opponent of theirs, and reads features.
func (h house) server(t *testing.T) {
	p := start(t, exec.Command(filepath.Join(h.dir, "blockyard"), "serve", "--listen", "tcp:127.0.0.1:0"))
	c := dial(t, p.Ready[0])
	var facts struct {
		Game     string   `msgpack:"game"`
		Features []string `msgpack:"features"`
	}
	require.NoError(t, c.Call("feature_names", &facts, "toy:pick"))
	require.Equal(t, "toy", facts.Game)
	require.Equal(t, "lead", facts.Features[1])
	g := envtest.Must(c.Open("toy:pick", map[string]any{"num_envs": 2, "illegal": "random", "opponents": map[int]any{1: "hand"}}))
	require.NoError(t, g.Reset(map[string]any{"seed": 7}))
	var rows struct {
		Actions  []byte `msgpack:"actions"`
		Features []byte `msgpack:"features"`
	}
	require.NoError(t, g.Call("features", &rows, nil))
	require.Len(t, rows.Features, len(rows.Actions)/2*4*len(facts.Features))
	for range 15 {
		require.NoError(t, g.Step(make([]byte, 2*g.Rows)))
	}
}
