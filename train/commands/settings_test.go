package commands

import (
	"testing"
	"time"

	"blockyard/train/games"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// parse reads a selfplay command line.
func parse(t *testing.T, args ...string) *selfplayCmd {
	t.Helper()
	p := Program()
	k, err := kong.New(p.Commands, p.Options...)
	require.NoError(t, err)
	_, err = k.Parse(append([]string{"selfplay"}, args...))
	require.NoError(t, err)
	return &p.Commands.(*table).Selfplay
}

// several are the settings of a game of several seats.
func (c *selfplayCmd) several(g *games.Game) (*phases.Config, error) {
	return c.Phases.Config(g, &c.AnyGame)
}

// Flags that are not given leave the library's defaults, which depend on the game.
func TestDefaults(t *testing.T) {
	for _, g := range []*games.Game{games.TetrisDuel, games.BlockBattle, games.Blocking} {
		got, err := parse(t, g.Rules.ID).several(g)
		require.NoError(t, err)
		want := phases.Default(g)
		require.Equal(t, &want, got)
	}
	alone, err := parse(t, "wintetris").algorithm(games.WinTetris)
	require.NoError(t, err)
	want := single.Default(games.WinTetris)
	require.Equal(t, &want, alone)
}

func TestBudgetOfTime(t *testing.T) {
	for args, gates := range map[string]int{"--for=40s": 1, "--for=2m": 2, "--for=1h": 6} {
		c, err := parse(t, "blocking", args).several(games.Blocking)
		require.NoError(t, err)
		require.Equal(t, gates, c.Gates, args)
		require.Zero(t, c.Iterations)
	}
	c, err := parse(t, "blockbattle", "--for=2m", "--gates=5").several(games.BlockBattle)
	require.NoError(t, err)
	require.Equal(t, 5, c.Gates)
	require.Equal(t, 2*time.Minute, c.For)
	_, err = parse(t, "blockbattle", "--for=2m", "--iterations=7").several(games.BlockBattle)
	require.ErrorContains(t, err, "a budget of 7 iterations and 2m0s: set one of the two")
}

// Flags set the fields that they are named for, some by another name.
func TestFlagsSetTheirFields(t *testing.T) {
	c, err := parse(t, "tetrisduel", "--backup=0.5", "--deep-width=3", "--hidden=5", "--versus=0.1", "--rate-backup=0.01",
		"--opponents=hand", "--rate=0.3", "--rate-end=0.2", "--seed=0", "--without=own,combo").several(games.TetrisDuel)
	require.NoError(t, err)
	require.Equal(t, []float64{.5, .5, .3, .2, .1, .01},
		[]float64{c.Results, c.Backup, c.Rate, c.RateEnd, c.Versus, c.RateBackup})
	require.Equal(t, []int{3, 5, 0}, []int{c.DeepWidth, c.Hidden[0], int(c.Seed)})
	require.Equal(t, []string{"hand"}, c.Opponents)
	require.Equal(t, []string{"own", "combo"}, c.Without)

	s := parse(t, "dropblox", "--for=1m", "--rate=0.5", "--lambda=0.1", "--deep-width=9", "--warm=1")
	config, err := s.algorithm(games.Dropblox)
	require.NoError(t, err)
	alone := config.(*single.Config)
	require.Equal(t, []float64{0.5, 0.1, 1}, []float64{alone.Rate, alone.Lambda, alone.Warm})
	require.Equal(t, 9, alone.DeepWidth)
	require.Zero(t, alone.Iterations)
}

// A flag of an algorithm that the run does not use is refused by name.
func TestFlagsOfOtherAlgorithmsAreRefused(t *testing.T) {
	out := " --iterations=1 --out " + t.TempDir()
	for line, says := range map[string]string{
		"wintetris --backup=.5 --versus=.3": "--backup belongs to games of several seats, which this run does not use",
		"wintetris --versus=.3":             "--versus belongs to games of several seats",
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
		"blocking --warm=.1": "--warm belongs to games with a planner (Dropblox), which this run does not use: it has several " +
			"seats",
		"blockbattle --keep=3":               "--keep belongs to games of one seat",
		"blocking --gate-games=3":            "--gate-games belongs to games of one seat",
		"tetrisduel --backup=1 --lambda=.3":  "--lambda belongs to",
		"blockbattle --backup=0 --samples=3": "--samples belongs to fitted value iteration",
		"blocking --look=3":                  "--look belongs to fitted value iteration",
	} {
		refuses(t, map[string]string{"selfplay " + line + out: says})
	}
}
