package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
)

// begun starts a run with these opponents in its gates, stops it at once, and returns its folder.
func begun(t *testing.T, against ...string) string {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, commandUntil(t, stopped(t), runIn(dir, tiny, "--gate-against="+strings.Join(against, ","))...))
	return dir
}

// forge replaces the opponents of the gates in a run's state.
func forge(t *testing.T, dir string, against ...string) {
	path := filepath.Join(dir, selfplay.StateFile)
	tensors, old := readState(t, path)
	var run map[string]any
	require.NoError(t, json.Unmarshal([]byte(old), &run))
	run["config"].(map[string]any)["GateAgainst"] = against
	text := envtest.Must(json.Marshal(run))
	writeState(t, path, tensors, string(text), nil)
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
