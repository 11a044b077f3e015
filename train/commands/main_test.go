package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/env/envtest"
	task "blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"
)

// command parses a command line as main does and runs it.
func command(t *testing.T, args ...string) error { return commandUntil(t.Context(), args...) }

func commandUntil(ctx context.Context, args ...string) error {
	c, err := Program().Parse(ctx, args)
	if err != nil {
		return err
	}
	return c.Run()
}

// refuses runs command lines, each of which fails and says why.
func refuses(t *testing.T, lines map[string]string) {
	for line, says := range lines {
		require.ErrorContains(t, command(t, strings.Fields(line)...), says, line)
	}
}

// runIn is the command line of a run of Block Battle in a folder.
func runIn(dir string, settings []string, more ...string) []string {
	return slices.Concat([]string{"selfplay", "blockbattle", "--out", dir}, settings, more)
}

func read(path string) string { return string(envtest.Must(os.ReadFile(path))) }

var tiny = []string{"--backup=0.1", "--games=4", "--rounds=24", "--iterations=6", "--batch=32",
	"--hidden=6", "--gates=2", "--gate-pairs=2", "--gate-ply=1"}

// resumed is the run in a folder, which the end of the test closes.
func resumed(t *testing.T, g *task.Game, dir string) *selfplay.Run {
	run := envtest.Must((&selfplayCmd{Out: dir, Resume: true, Workers: 1}).open(g))
	t.Cleanup(func() { require.NoError(t, run.Close()) })
	return run
}

// Self-play that was stopped records its games, and fit learns from them.
func TestFit(t *testing.T) {
	dir := t.TempDir()
	games, best, out := filepath.Join(dir, "games.jsonl.gz"), filepath.Join(dir, selfplay.BestFile), filepath.Join(dir, "fit")
	record := []string{"--record", games}
	require.NoError(t, commandUntil(envtest.Stopped(t), runIn(dir, tiny, record...)...))
	require.NoError(t, command(t, runIn(dir, record, "--resume")...))
	require.NoError(t, command(t, "fit", games, "--out", out, "--from", best, "--epochs=2", "--held=0.3")) // --game is theirs
	require.Equal(t, 6, envtest.Must(task.BlockBattle.Load(out)).Layers()[0].Out)
	require.Equal(t, "1", envtest.Must(program.ReadRun(out+".run.json")).Seed)
}

// recorded records matches of so many units between two agents.
func recorded(t *testing.T, g *task.Game, units int, names ...string) (path string) {
	path = filepath.Join(t.TempDir(), "games.jsonl")
	w := envtest.Must(record.Create(path))
	m := match.Match{Rules: g.Rules, Units: units, Workers: 2, Record: w.Write}
	for _, name := range names {
		m.Players = append(m.Players, match.Player{Name: name, New: envtest.Must(bots.New(g.Rules, bots.Own(name)))})
	}
	envtest.Must(m.Play(t.Context()))
	require.NoError(t, w.Close())
	return path
}

// manyGames writes one short game so many times.
func manyGames(t *testing.T, copies int) (path string) {
	path = filepath.Join(t.TempDir(), "games.jsonl.gz")
	line, _, _ := strings.Cut(read(recorded(t, task.BlockBattle, 1, "random", "random")), "\n")
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for range copies / 1000 {
		envtest.Must(io.WriteString(w, strings.Repeat(line+"\n", 1000)))
	}
	require.NoError(t, w.Close())
	require.Less(t, b.Len(), 250<<10)
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

// A small compressed file that holds more games than there is memory for is refused before there are rows of any, with the
// place and the limit; so is a single long game, even one that was stopped and would give no rows.
func TestFitBounded(t *testing.T) {
	path := manyGames(t, 3000)
	fit := func(path string) error {
		return command(t, "fit", path, "--out", filepath.Join(t.TempDir(), "x"), "--max-mb", "8", "--epochs=1")
	}
	require.ErrorContains(t, fit(path), "games.jsonl.gz:255: too many rows: the games up to here have 11730 choices, "+
		"each a row of 716 bytes; want at most 11715, as many as fit into --max-mb 8: raise it if there is memory")

	parts := filepath.Join(t.TempDir(), "long.jsonl")
	begins := `{"game":"blockbattle","rules":1,"seed":"1","seats":2,"agents":["a","b"],"more":true}` + "\n"
	for _, part := range []string{`"choices":[0` + strings.Repeat(",0", 4000), `"draws":[[]` + strings.Repeat(",[]", 4000)} {
		text := begins
		for n := range 100 {
			text += fmt.Sprintf(`{"part":%d,"more":true,%s]}`+"\n", n+1, part)
		}
		require.NoError(t, os.WriteFile(parts, []byte(text+`{"part":101,"stopped":true}`), 0o600))
		require.ErrorContains(t, fit(parts), "long.jsonl:4: too many rows: the games up to here have 12003 choices")
	}
}

// Fitting to the games of an agent that is no match for the other shows on games held back. Without --game, the first
// record names it.
func TestFitLearns(t *testing.T) {
	g := task.TetrisDuel
	path, out := recorded(t, g, 30, "hand:ply=1", "random"), filepath.Join(t.TempDir(), "fit.safetensors")
	require.NoError(t, command(t, "fit", path, "--batch=32", "--rate=0.003", "--held=0.2", "--hidden=8", "--out", out))
	_, held := envtest.Must2((&fit{Files: []string{path}, Held: 0.2, Seed: 1, MaxMB: 64}).read(t.Context(), g))
	require.NotZero(t, held.Len())
	require.Less(t, held.Loss(envtest.Must(g.Load(out))), 0.3, "a coin's loss is 0.69")
	require.Error(t, command(t, "fit", path, "--game=blockbattle", "--out", out))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.ErrorContains(t, command(t, "fit", path), "holds no game")
}

// Command lines are refused with the flag and the reason. A flag of an algorithm that the run does not use is one.
func TestRefuses(t *testing.T) {
	file := envtest.File(t, "x", "no weights")
	out := " --iterations=1 --out " + filepath.Join(t.TempDir(), "none")
	const needsNet = "give --results a share above 0, or name one with --from"
	for line, says := range map[string]string{
		"chess":                                  "chess",
		"blockbattle --backup=0 --lambda=2":      "lambda is 2",
		"wintetris --lambda=2":                   "lambda is 2",
		"wintetris --record=x":                   "without records",
		"blockbattle --backup=0.4 --results=0.5": "results come before a backup",
		"blockbattle --for=2m":                   "a budget of 1 iterations and 2m0s: set one of the two",
		"blockbattle --backup=1":                 needsNet,
		"tetrisduel --backup=1":                  needsNet,
		"wintetris --results=0.5":                "--results belongs to",
		"wintetris --backup=.5 --versus=.3":      "--backup belongs to games of several seats, which this run does not use",
		"blockbattle --opponents=combo": "--opponents belongs to games against opponents, which this run does not use: " +
			"give --versus a share above 0",
		"blocking --versus=0 --opponents=greedy":           "--opponents belongs to games against opponents",
		"wintetris --opponents=hand":                       "--opponents belongs to games against opponents",
		"blockbattle --versus=.3 --opponents=combo,greedy": `blockbattle: unknown opponent "greedy"; there are hand, terms6, combo`,
		"dropblox --gate-ply=1":                            "--gate-ply belongs to games of several seats",
		"wintetris --discount=0.9":                         "--discount belongs to games with a planner",
		"dropblox --discount=0":                            "--discount is 0, want more than 0, up to 1",
		"wintetris --deep-width=3": "--deep-width belongs to games with a planner (Dropblox), which this run does not use: " +
			"this game has none",
		"blocking --deep-width=3": "--deep-width belongs to fitted value iteration",
		"wintetris --warm=.1":     "--warm belongs to",
		"blocking --warm=.1": "--warm belongs to games with a planner (Dropblox), which this run does not use: " +
			"it has several seats",
		"blockbattle --keep=3":               "--keep belongs to games of one seat",
		"blocking --gate-games=3":            "--gate-games belongs to games of one seat",
		"tetrisduel --backup=1 --lambda=.3":  "--lambda belongs to",
		"blockbattle --backup=0 --samples=3": "--samples belongs to fitted value iteration",
		"blocking --look=3":                  "--look belongs to fitted value iteration",
		"blockbattle --cluster=host":         "want an address such as nats://HOST:4222",
		"blockbattle --cluster --record x":   "workers send no games",
	} {
		refuses(t, map[string]string{"selfplay " + line + out: says})
	}
	refuses(t, map[string]string{
		"selfplay blockbattle --resume --out " + t.TempDir(): "no such file",
		"fit " + file + " --epochs=0":                        "out of range",
		"fit " + file:                                        "x:1",
		"fit " + file + " --max-mb 0":                        "--max-mb 0: want 1 or more",
		"oops":                                               "unexpected argument oops",
	})
}

// parse reads a command line of selfplay.
func parse(t *testing.T, line string) *selfplayCmd {
	p := Program()
	require.NoError(t, envtest.Failed(p.Parse(t.Context(), append([]string{"selfplay"}, strings.Fields(line)...))), line)
	return &p.Commands.(*table).Selfplay
}

// changed is settings after a change.
func changed[C any](c C, change func(*C)) *C {
	change(&c)
	return &c
}

// Flags set the fields that they are named for, some by another name. Those that are not given leave the library's
// defaults, which depend on the game. A share that is not given is what the other leaves, and a budget of time has its
// own number of gates.
func TestFlagsSetTheirFields(t *testing.T) {
	shares := func(results, backup float64) selfplay.Algorithm {
		return changed(phases.Default(task.BlockBattle), func(c *phases.Config) { c.Results, c.Backup = results, backup })
	}
	limited := func(limit time.Duration, gates int) selfplay.Algorithm {
		return changed(phases.Default(task.Blocking), func(c *phases.Config) { c.For, c.Iterations, c.Gates = limit, 0, gates })
	}
	for line, want := range map[string]selfplay.Algorithm{
		"tetrisduel":                             changed(phases.Default(task.TetrisDuel), func(*phases.Config) {}),
		"blocking":                               changed(phases.Default(task.Blocking), func(*phases.Config) {}),
		"wintetris":                              changed(single.Default(task.WinTetris), func(*single.Config) {}),
		"blockbattle":                            shares(2./6, 4./6),
		"blockbattle --results=0.4":              shares(.4, .6),
		"blockbattle --backup=0.2":               shares(.8, .2),
		"blockbattle --backup=0":                 shares(0, 0),
		"blocking --for=40s":                     limited(40*time.Second, 1),
		"blocking --for=2m":                      limited(2*time.Minute, 2),
		"blocking --for=1h":                      limited(time.Hour, 6),
		"blocking --for=2m --gates=5":            limited(2*time.Minute, 5),
		"blockbattle --backup=0.4 --results=0.6": shares(.6, .4),
		"tetrisduel --backup=0.5 --deep-width=3 --hidden=5 --versus=0.1 --rate-backup=0.01 --opponents=hand --rate=0.3 " +
			"--rate-end=0.2 --seed=0 --without=own,combo --last-stage=3": changed(phases.Default(task.TetrisDuel), func(c *phases.Config) {
			c.Results, c.Backup, c.DeepWidth, c.Hidden, c.Versus, c.RateBackup = .5, .5, 3, []int{5}, .1, .01
			c.Opponents, c.Rate, c.RateEnd, c.Seed, c.Without = []string{"hand"}, .3, .2, 0, []string{"own", "combo"}
			c.LastStage = 3
		}),
		"dropblox --for=10m --rate=0.5 --lambda=0.1 --deep-width=9 --warm=1": changed(single.Default(task.Dropblox), func(c *single.Config) {
			c.For, c.Iterations, c.Rate, c.Lambda, c.DeepWidth, c.Warm = 10*time.Minute, 0, .5, .1, 9, 1
		}),
	} {
		got, err := parse(t, line).algorithm(envtest.Must(task.Open(strings.Fields(line)[0])))
		require.NoError(t, err, line)
		require.Equal(t, want, got, line)
	}
}
