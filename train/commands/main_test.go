package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

var tiny = []string{"--backup=0.1", "--games=4", "--rounds=24", "--iterations=6", "--batch=32",
	"--hidden=6", "--gates=2", "--gate-pairs=2", "--gate-ply=1"}

func TestSelfplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	games := filepath.Join(t.TempDir(), "games.jsonl.gz")
	start := append([]string{"selfplay", "blockbattle", "--out", dir, "--record", games}, tiny...)

	stopped, cancel := context.WithCancel(t.Context())
	cancel() // as Ctrl-C at once
	require.NoError(t, commandUntil(t, stopped, start...))
	require.FileExists(t, filepath.Join(dir, selfplay.StateFile))
	require.ErrorContains(t, command(t, start...), "holds a run already")

	require.NoError(t, command(t, append(start[:6:6], "--resume")...))
	for _, name := range []string{selfplay.BestFile, selfplay.CurveFile, "net-001.safetensors", "net-002.safetensors"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	events, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	require.NoError(t, err)
	require.Len(t, events, 2, "one for each time it was started")
	best := filepath.Join(dir, selfplay.BestFile)
	_, err = task.BlockBattle.Load(best)
	require.NoError(t, err)

	made, err := program.ReadRun(filepath.Join(dir, program.RunFile))
	require.NoError(t, err)
	require.Equal(t, "1", made.Seed)
	require.NotNil(t, made.Seconds)
	require.Len(t, made.Earlier, 1, "the part before Ctrl-C")

	out := filepath.Join(dir, "fit.safetensors")
	require.NoError(t, command(t, "fit", games, "--out", out, "--from", best, "--epochs=2", "--held=0.3")) // --game is theirs
	net, err := task.BlockBattle.Load(out)
	require.NoError(t, err)
	require.Equal(t, 6, net.Layers()[0].Out)
	made, err = program.ReadRun(out + ".run.json")
	require.NoError(t, err)
	require.Equal(t, "1", made.Seed)
}

// manyGames writes one short game so many times.
func manyGames(t *testing.T, copies int) (path string) {
	path = filepath.Join(t.TempDir(), "games.jsonl.gz")
	f, err := os.Create(path)
	require.NoError(t, err)
	w := gzip.NewWriter(f)
	table := match.Match{Rules: task.BlockBattle.Rules, Units: 1, Workers: 1, Record: func(rec *record.Record) error {
		line, err := json.Marshal(rec)
		thousand := bytes.Repeat(append(line, '\n'), 1000)
		for range copies / 1000 {
			_, e := w.Write(thousand)
			err = errors.Join(err, e)
		}
		return err
	}}
	random := match.Player{Name: "random", New: func(seed uint64) (env.Agent, error) { return random{seed}, nil }}
	table.Players = []match.Player{random, random}
	_, err = table.Play(t.Context())
	require.NoError(t, errors.Join(err, w.Close(), f.Close()))
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
	require.ErrorContains(t, command(t, "fit", path, "--max-mb", "0"), "--max-mb 0: want 1 or more")

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
	path := filepath.Join(t.TempDir(), "games.jsonl")
	w, err := record.Create(path)
	require.NoError(t, err)
	g := task.BlockBattle
	random := match.Player{Name: "random", New: func(seed uint64) (env.Agent, error) { return random{seed}, nil }}
	hand, err := bots.New(g.Rules, bots.Own("hand:ply=1"))
	require.NoError(t, err)
	table := match.Match{Rules: g.Rules, Players: []match.Player{match.Player{Name: "hand", New: hand}, random}, Units: 30, Workers: 2, Record: w.Write}
	_, err = table.Play(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.Close())

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
	for says, args := range map[string][]string{
		"chess":                                  {"selfplay", "chess"},
		"lambda is 2":                            {"selfplay", "blockbattle", "--backup=0", "--lambda=2", "--out", t.TempDir()},
		"--warm belongs to games with a planner": {"selfplay", "blockbattle", "--warm=0.1", "--out", t.TempDir()},
		"no such file":                           {"selfplay", "blockbattle", "--resume", "--out", t.TempDir()},
		"out of range":                           {"fit", file, "--epochs=0"},
		"x:1":                                    {"fit", file},
		"unexpected argument oops":               {"oops"},
	} {
		require.ErrorContains(t, command(t, args...), says, "%v", args)
	}
}

// TestFitFindsTheGame: without --game, the first record names it.
func TestFitFindsTheGame(t *testing.T) {
	g := task.TetrisDuel
	path := filepath.Join(t.TempDir(), "games.jsonl")
	w, err := record.Create(path)
	require.NoError(t, err)
	p := match.Player{Name: "random", New: func(seed uint64) (env.Agent, error) { return random{seed}, nil }}
	table := match.Match{Rules: g.Rules, Players: []match.Player{p, p}, Units: 2, Record: w.Write}
	_, err = table.Play(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	out := filepath.Join(t.TempDir(), "fit.safetensors")
	require.NoError(t, command(t, "fit", path, "--hidden=4", "--epochs=1", "--out", out))
	_, err = g.Load(out)
	require.NoError(t, err)
	require.Error(t, command(t, "fit", path, "--game=blockbattle", "--out", out))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.ErrorContains(t, command(t, "fit", path), "holds no game")
}
