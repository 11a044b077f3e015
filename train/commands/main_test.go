package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/env"
	task "blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

// command parses a command line as main does and runs it.
func command(t *testing.T, args ...string) error {
	t.Helper()
	return commandUntil(t, t.Context(), args...)
}

func commandUntil(t *testing.T, ctx context.Context, args ...string) error {
	t.Helper()
	c, err := Program().Parse(ctx, args)
	if err != nil {
		return err
	}
	return c.Run()
}

// stopped is a context that has ended, as after Ctrl-C.
func stopped(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// refuses runs command lines, each of which fails and says why.
func refuses(t *testing.T, lines map[string]string) {
	t.Helper()
	for line, says := range lines {
		require.ErrorContains(t, command(t, strings.Fields(line)...), says, line)
	}
}

// runIn is the command line of a run of Block Battle in a folder.
func runIn(dir string, settings []string, more ...string) []string {
	return slices.Concat([]string{"selfplay", "blockbattle", "--out", dir}, settings, more)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

var tiny = []string{"--backup=0.1", "--games=4", "--rounds=24", "--iterations=6", "--batch=32",
	"--hidden=6", "--gates=2", "--gate-pairs=2", "--gate-ply=1"}

// resumed is the run in a folder, which the end of the test closes.
func resumed(t *testing.T, g *task.Game, dir string) *selfplay.Run {
	t.Helper()
	run, err := (&selfplayCmd{Out: dir, Resume: true, Workers: 1}).open(g)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, run.Close()) })
	return run
}

// Self-play that was stopped records its games, and fit learns from them.
func TestFit(t *testing.T) {
	dir := t.TempDir()
	games, best, out := filepath.Join(dir, "games.jsonl.gz"), filepath.Join(dir, selfplay.BestFile), filepath.Join(dir, "fit")
	record := []string{"--record", games}
	require.NoError(t, commandUntil(t, stopped(t), runIn(dir, tiny, record...)...))
	require.NoError(t, command(t, runIn(dir, record, "--resume")...))
	require.NoError(t, command(t, "fit", games, "--out", out, "--from", best, "--epochs=2", "--held=0.3")) // --game is theirs
	net, err := task.BlockBattle.Load(out)
	require.NoError(t, err)
	require.Equal(t, 6, net.Layers()[0].Out)
	made, err := program.ReadRun(out + ".run.json")
	require.NoError(t, err)
	require.Equal(t, "1", made.Seed)
}

// recorded records matches of so many units between two players.
func recorded(t *testing.T, g *task.Game, units int, a, b match.Player) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "games.jsonl")
	w, err := record.Create(path)
	require.NoError(t, err)
	table := match.Match{Rules: g.Rules, Players: []match.Player{a, b}, Units: units, Workers: 2, Record: w.Write}
	_, err = table.Play(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return path
}

// chance chooses at random.
var chance = match.Player{Name: "random", New: func(seed uint64) (env.Agent, error) { return random{seed}, nil }}

// manyGames writes one short game so many times.
func manyGames(t *testing.T, copies int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "games.jsonl.gz")
	f, err := os.Create(path)
	require.NoError(t, err)
	w := gzip.NewWriter(f)
	line, _, _ := strings.Cut(read(t, recorded(t, task.BlockBattle, 1, chance, chance)), "\n")
	for range copies / 1000 {
		_, err := io.WriteString(w, strings.Repeat(line+"\n", 1000))
		require.NoError(t, err)
	}
	require.NoError(t, errors.Join(w.Close(), f.Close()))
	return path
}

// A small compressed file that holds more games than there is memory for is refused before there are rows of any, with the
// place and the limit; so is a single long game, even one that was stopped and would give no rows.
func TestFitBounded(t *testing.T) {
	path := manyGames(t, 3000)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(200<<10))
	fit := func(path string) error {
		return command(t, "fit", path, "--out", filepath.Join(t.TempDir(), "x"), "--max-mb", "8", "--epochs=1")
	}
	require.ErrorContains(t, fit(path), "games.jsonl.gz:417: too many rows: the games up to here have 12510 choices, "+
		"each a row of 672 bytes; want at most 12483, as many as fit into --max-mb 8: raise it if there is memory")

	parts := filepath.Join(t.TempDir(), "long.jsonl")
	begins := `{"game":"blockbattle","rules":1,"seed":"1","seats":2,"agents":["a","b"],"more":true}` + "\n"
	for _, part := range []string{`"choices":[0` + strings.Repeat(",0", 4000), `"draws":[[]` + strings.Repeat(",[]", 4000)} {
		text := begins
		for n := range 100 {
			text += fmt.Sprintf(`{"part":%d,"more":true,%s]}`+"\n", n+1, part)
		}
		require.NoError(t, os.WriteFile(parts, []byte(text+`{"part":101,"stopped":true}`), 0o600))
		require.ErrorContains(t, fit(parts), "long.jsonl:5: too many rows: the games up to here have 16004 choices")
	}
}

// Fitting to the games of a player that is no match for the other shows on games held
// back.
func TestFitLearns(t *testing.T) {
	g := task.BlockBattle
	hand, err := bots.New(g.Rules, bots.Own("hand:ply=1"))
	require.NoError(t, err)
	path := recorded(t, g, 30, match.Player{Name: "hand", New: hand}, chance)
	c := fit{Files: []string{path}, Epochs: 8, Batch: 32, Rate: 3e-3, Held: 0.2, Seed: 1, Hidden: []int{8}, MaxMB: 64}
	train, held, err := c.read(t.Context(), g)
	require.NoError(t, err)
	require.NotZero(t, held.Len())
	tr, err := c.trainer(g)
	require.NoError(t, err)
	defer func() { require.NoError(t, tr.Close()) }()
	require.NoError(t, c.fit(t.Context(), program.NewBar(io.Discard, true, -1, ""), tr, train, held))
	net, err := tr.Net()
	require.NoError(t, err)
	require.Less(t, held.Loss(net), 0.3, "a coin's loss is 0.69")
}

// random plays any legal action.
type random struct{ seed uint64 }

func (r random) Act(_ context.Context, s env.State, seat int) (env.Action, error) {
	legal := s.Legal(seat, nil)
	return legal[env.Derive(r.seed, uint64(len(legal)))%uint64(len(legal))], nil
}

func TestRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(file, []byte("no weights"), 0o600))
	out := " --out " + t.TempDir()
	refuses(t, map[string]string{
		"selfplay chess": "chess",
		"selfplay blockbattle --backup=0 --lambda=2" + out: "lambda is 2",
		"selfplay wintetris --lambda=2" + out:              "lambda is 2",
		"selfplay blockbattle --warm=0.1" + out:            "--warm belongs to games with a planner",
		"selfplay blockbattle --resume" + out:              "no such file",
		"selfplay wintetris --record=x" + out:              "without records",
		"fit " + file + " --epochs=0":                      "out of range",
		"fit " + file:                                      "x:1",
		"fit " + file + " --max-mb 0":                      "--max-mb 0: want 1 or more",
		"oops":                                             "unexpected argument oops",
	})
}

// TestFitFindsTheGame: without --game, the first record names it.
func TestFitFindsTheGame(t *testing.T) {
	path := recorded(t, task.TetrisDuel, 2, chance, chance)
	out := filepath.Join(t.TempDir(), "fit.safetensors")
	require.NoError(t, command(t, "fit", path, "--hidden=4", "--epochs=1", "--out", out))
	_, err := task.TetrisDuel.Load(out)
	require.NoError(t, err)
	require.Error(t, command(t, "fit", path, "--game=blockbattle", "--out", out))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.ErrorContains(t, command(t, "fit", path), "holds no game")
}
