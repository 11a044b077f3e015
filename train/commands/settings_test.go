package commands

import (
	"strings"
	"testing"
	"time"

	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"

	"github.com/stretchr/testify/require"
)

// parse reads a command line of selfplay.
func parse(t *testing.T, line string) *selfplayCmd {
	p := Program()
	require.NoError(t, envtest.Failed(p.Parse(t.Context(), append([]string{"selfplay"}, strings.Fields(line)...))), line)
	return &p.Commands.(*table).Selfplay
}

// Flags set the fields that they are named for, some by another name. Those that are not given leave the library's
// defaults, which depend on the game. A share that is not given is what the other leaves, and a budget of time has its
// own number of gates.
func TestFlagsSetTheirFields(t *testing.T) {
	several := func(g *games.Game, change func(c *phases.Config)) selfplay.Algorithm {
		c := phases.Default(g)
		change(&c)
		return &c
	}
	alone := func(g *games.Game, change func(c *single.Config)) selfplay.Algorithm {
		c := single.Default(g)
		change(&c)
		return &c
	}
	shares := func(results, backup float64) selfplay.Algorithm {
		return several(games.BlockBattle, func(c *phases.Config) { c.Results, c.Backup = results, backup })
	}
	limited := func(limit time.Duration, gates int) selfplay.Algorithm {
		return several(games.Blocking, func(c *phases.Config) { c.For, c.Iterations, c.Gates = limit, 0, gates })
	}
	for line, want := range map[string]selfplay.Algorithm{
		"tetrisduel":                             several(games.TetrisDuel, func(*phases.Config) {}),
		"blocking":                               several(games.Blocking, func(*phases.Config) {}),
		"wintetris":                              alone(games.WinTetris, func(*single.Config) {}),
		"blockbattle":                            shares(.5, .5),
		"blockbattle --results=0.4":              shares(.4, .6),
		"blockbattle --backup=0.2":               shares(.8, .2),
		"blockbattle --backup=0":                 shares(0, 0),
		"blocking --for=40s":                     limited(40*time.Second, 1),
		"blocking --for=2m":                      limited(2*time.Minute, 2),
		"blocking --for=1h":                      limited(time.Hour, 6),
		"blocking --for=2m --gates=5":            limited(2*time.Minute, 5),
		"blockbattle --backup=0.4 --results=0.6": shares(.6, .4),
		"tetrisduel --backup=0.5 --deep-width=3 --hidden=5 --versus=0.1 --rate-backup=0.01 --opponents=hand --rate=0.3 " +
			"--rate-end=0.2 --seed=0 --without=own,combo": several(games.TetrisDuel, func(c *phases.Config) {
			c.Results, c.Backup, c.DeepWidth, c.Hidden, c.Versus, c.RateBackup = .5, .5, 3, []int{5}, .1, .01
			c.Opponents, c.Rate, c.RateEnd, c.Seed, c.Without = []string{"hand"}, .3, .2, 0, []string{"own", "combo"}
		}),
		"dropblox --for=10m --rate=0.5 --lambda=0.1 --deep-width=9 --warm=1": alone(games.Dropblox, func(c *single.Config) {
			c.For, c.Iterations, c.Rate, c.Lambda, c.DeepWidth, c.Warm = 10*time.Minute, 0, .5, .1, 9, 1
		}),
	} {
		g := envtest.Must(games.Open(strings.Fields(line)[0]))
		got, err := parse(t, line).algorithm(g)
		require.NoError(t, err, line)
		require.Equal(t, want, got, line)
	}
}
