package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/mlp"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
)

// begun starts a run with these opponents in its gates, stops it at once, and returns its folder.
func begun(t *testing.T, against ...string) string {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, commandUntil(envtest.Stopped(t), runIn(dir, tiny, "--gate-against="+strings.Join(against, ","))...))
	return dir
}

// forge replaces the opponents of the gates in a run's state.
func forge(t *testing.T, dir string, against ...string) {
	path := filepath.Join(dir, selfplay.StateFile)
	tensors, old := readState(path)
	var run map[string]any
	require.NoError(t, json.Unmarshal([]byte(old), &run))
	run["config"].(map[string]any)["GateAgainst"] = against
	writeState(t, path, tensors, string(envtest.Must(json.Marshal(run))), nil)
}

// writeWeights writes weights of hand in Block Battle.
func writeWeights(t *testing.T, path string) []byte {
	weights := blockbattlebot.Entry.Baseline.Format(blockbattlebot.Tuned[:])
	require.NoError(t, os.WriteFile(path, weights, 0o600))
	return weights
}

// TestForeignRunFolder: what a run's folder names neither starts a program nor reads a file, unless the user's own
// command line names it too.
func TestForeignRunFolder(t *testing.T) {
	dir := begun(t, "random")
	proof := filepath.Join(t.TempDir(), "proof")
	resume := runIn(dir, nil, "--resume")
	for _, against := range []string{
		"exec:touch " + proof, "me=exec:touch " + proof, "touch " + proof, proof, "hand:weights=" + proof, "human",
		"hand:weights=sha256:../../../../../.." + proof, "learned:weights=sha256:" + strings.Repeat("0", 64),
	} {
		forge(t, dir, "random", against)
		require.ErrorContains(t, command(t, resume...), "gate against ", against)
		require.NoFileExists(t, proof)
	}
	forge(t, dir, "random", "exec:touch "+proof)
	require.ErrorContains(t, command(t, resume...), "repeat that --gate-against beside --resume")
	require.ErrorContains(t, command(t, append(resume, "--gate-against=exec:touch x")...), "repeat that --gate-against")
	require.Error(t, command(t, append(resume, "--gate-against=exec:touch "+proof)...), "it ends and answers nothing")
	require.FileExists(t, proof)
}

// TestGateWeightsLieInTheFolder: the weights of an opponent are copied, by content, so that the run goes on without
// their file, and a worker can play for it.
func TestGateWeightsLieInTheFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.json")
	weights := writeWeights(t, path)
	dir := begun(t, "mine=hand:weights="+path)
	require.NoError(t, os.Remove(path))
	kept := weightsFile(dir, bots.ContentName(weights))
	require.FileExists(t, kept)
	settings := *resumed(t, games.BlockBattle, dir).Settings.(*phases.Config)
	require.Equal(t, []string{"mine=hand:weights=" + bots.ContentName(weights)}, settings.GateAgainst)
	settings.GateText = nil
	_, err := selfplay.NewPlayer(games.BlockBattle, &settings)
	require.NoError(t, err, "a worker does not need what it does not play")

	require.NoError(t, os.WriteFile(kept, []byte("{}"), 0o600))
	require.ErrorContains(t, command(t, runIn(dir, nil, "--resume")...), "other weights")
	require.NoError(t, os.WriteFile(kept, weights, 0o600))
	require.NoError(t, command(t, runIn(dir, nil, "--resume")...))
	require.Equal(t, "mine", resumed(t, games.BlockBattle, dir).Curve[1].Against)
}

// TestGateAgainstALeague: a league stands for the agents that its file lists, with their names and weights, as they are
// when the run begins. Programs do not play in gates, and are not started.
func TestGateAgainstALeague(t *testing.T) {
	league, proof := t.TempDir(), filepath.Join(t.TempDir(), "proof")
	list := filepath.Join(league, "league.toml")
	writeWeights(t, filepath.Join(league, "w.json"))
	require.NoError(t, os.WriteFile(list, fmt.Appendf(nil, "agents = [%q, %q, %q]", "exec:touch "+proof, "first",
		"mine=hand:weights="+filepath.Join(league, "w.json")), 0o600))
	dir := begun(t, "league:"+league)
	require.NoError(t, os.RemoveAll(league))
	require.NoError(t, command(t, runIn(dir, nil, "--resume")...))
	require.NoFileExists(t, proof)
	require.Equal(t, "first, mine", resumed(t, games.BlockBattle, dir).Curve[1].Against)

	start := runIn(dir+"2", tiny, "--gate-against=league:"+league)
	require.ErrorContains(t, command(t, start...), list+" names no agent for gates")
	require.NoError(t, os.Mkdir(league, 0o700))
	for text, want := range map[string]string{"agents = ['exec:true']": "names no agent for gates", "agent = []": "unknown agent",
		"agents = ['hnad']": list + ": agent \"hnad\""} {
		require.NoError(t, os.WriteFile(list, []byte(text), 0o600))
		require.ErrorContains(t, command(t, start...), want)
	}
}

// A halfway is a saved run: its tensors, and its JSON with the places of all values in it.
type halfway struct {
	game    *games.Game
	tensors []mlp.Tensor
	text    string
	values  [][]int
}

// FuzzState resumes saved runs of every kind with one value of their JSON replaced by any text, and bytes of the file
// changed: refused, or a run that goes on. The checksum is that of the changed file, so that changes are looked at.
func FuzzState(f *testing.F) {
	value := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|null|true|false|\[\]`)
	var all []*halfway
	for _, name := range slices.Sorted(maps.Keys(halves)) {
		g := envtest.Must(games.Open(halves[name].game))
		tensors, text := readState(halfFile(name))
		h := &halfway{game: g, tensors: tensors, text: text, values: value.FindAllStringIndex(text, -1)}
		all = append(all, h)
		for k, v := range []string{"-1", "0", "1e9", "null", `""`, "[]", "9007199254740993", "0.5"} {
			f.Add(uint8(len(all)-1), uint16(37*k), v, []byte{})
		}
		f.Add(uint8(len(all)-1), uint16(3), h.text[h.values[3][0]:h.values[3][1]], []byte{200, 0, 255, 200, 3, 127})
	}
	f.Fuzz(func(t *testing.T, which uint8, place uint16, with string, patch []byte) {
		h := all[int(which)%len(all)]
		at := h.values[int(place)%len(h.values)]
		text := h.text[:at[0]] + with + h.text[at[1]:]
		if huge([]byte(text)) {
			return
		}
		path := filepath.Join(t.TempDir(), selfplay.StateFile)
		writeState(t, path, h.tensors, text, patch)
		run, err := selfplay.Resume(h.game, path, emptySettings(h.game), 1)
		if err != nil {
			return
		}
		defer func() { require.NoError(t, run.Close()) }()
		if !run.Done() {
			_ = run.Step() // may fail, for instance because a number is not finite
		}
		if err := run.Save(path); err == nil {
			again, err := selfplay.Resume(h.game, path, emptySettings(h.game), 1)
			if err == nil {
				require.NoError(t, again.Close())
			}
		}
	})
}

// readState returns the tensors and the JSON of a saved run.
func readState(path string) (tensors []mlp.Tensor, run string) {
	tensors, meta := envtest.Must2(mlp.ParseTensors(envtest.Must(os.ReadFile(path))))
	return tensors, meta["run"]
}

// writeState writes a saved run with the right checksum. patch replaces bytes: each by the third of three.
func writeState(t *testing.T, path string, tensors []mlp.Tensor, run string, patch []byte) {
	var b bytes.Buffer
	require.NoError(t, mlp.WriteTensors(&b, tensors, map[string]string{"run": run, "sha256": strings.Repeat("0", 64)}))
	file := b.Bytes()
	for ; len(patch) >= 3; patch = patch[3:] { // among the tensors, which follow the header
		file[len(file)-1-(int(patch[0])<<8|int(patch[1]))%(len(file)/2)] = patch[2]
	}
	require.NoError(t, selfplay.Seal(file))
	require.NoError(t, os.WriteFile(path, file, 0o600))
}

// huge reports whether a run has settings with which a step takes long, as a user may wish.
func huge(text []byte) bool {
	var s struct {
		Config struct {
			selfplay.Options
			Keep, Width, DeepWidth, Samples, Look, Longest int
		}
	}
	if json.Unmarshal(text, &s) != nil {
		return false // it is refused
	}
	c := s.Config
	cells := 0
	for _, h := range c.Hidden {
		cells += h
	}
	return c.Games > 64 || c.Rounds > 64 || c.Batch > 1024 || cells > 128 || c.Keep > 16 || c.Width > 64 || c.DeepWidth > 64 ||
		c.Samples > 16 || c.Look > 2
}
