package commands

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/train/games"
)

// A teacher has no regrets about its own choices, others have, and the same command makes the same file.
func TestRegret(t *testing.T) {
	dir := t.TempDir()
	file, again := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	for _, path := range []string{file, again} {
		require.NoError(t, command(t, "regret", path, "--make=blockbattle", "--teacher=learned:ply=2", "--positions=12"))
	}
	require.Equal(t, read(file), read(again))
	l, _ := envtest.Must2(readLesson(file))
	require.Len(t, l.decisions, 12)
	silent := program.NewBar(io.Discard, true, -1, "decisions")
	regrets := func(name string) (out []float64) {
		return row(io.Discard, name, envtest.Must(l.judge(t.Context(), games.BlockBattle, name, 2, silent)), nil)
	}
	require.Equal(t, make([]float64, 12), regrets("learned"))
	const shipped = "../../agents/bots/blockbattlebot/weights/blockbattle.safetensors"
	require.Equal(t, make([]float64, 12), regrets(shipped))
	require.Equal(t, make([]float64, 12), regrets("learned:ply=2,weights="+shipped))
	require.Greater(t, match.MeanOf(regrets("random")).Low, 0.)
	require.NoError(t, command(t, "regret", file, "learned", "hand:ply=1"))

	l.decisions[3].Values = l.decisions[3].Values[1:]
	require.ErrorContains(t, envtest.Failed(l.judge(t.Context(), games.BlockBattle, "hand", 1, silent)), "decision 3: ")
	broken, none := filepath.Join(dir, "c.json"), filepath.Join(dir, "d.json")
	require.NoError(t, os.WriteFile(broken, []byte("["), 0o600))
	refuses(t, map[string]string{
		"regret " + broken + " hand":                              "not decisions with values",
		"regret " + none + " --make=tetrisduel":                   "a game with draws that a search enumerates",
		"regret " + file + " nobody":                              "agent \"nobody\": ",
		"regret " + none + " --make=blockbattle --teacher=random": "it gives no values to actions",
	})
}

// tinyPanel makes a panel in moments.
func tinyPanel(file, game string, more ...string) []string {
	return append([]string{"regret", file, "--make", game, "--panel", "--positions=4", "--rollouts=8", "--play=hand:ply=1",
		"--nominate=hand:ply=1 hand learned:ply=1"}, more...)
}

// A panel has the same bytes with any number of workers, and if its command was stopped and called again: by Ctrl-C, or
// killed while it wrote a line. Its positions are from different games, and have two actions or more.
func TestPanelIsReproducible(t *testing.T) {
	for game, policy := range map[string]string{"blockbattle": "hand:ply=1", "tetrisduel": "hand:ply=1,eps=0.5"} {
		file, again := filepath.Join(t.TempDir(), "panel.jsonl"), filepath.Join(t.TempDir(), "panel.jsonl")
		flags := func(file, workers string) []string {
			return tinyPanel(file, game, "--seed=5", "--policy="+policy, "--workers="+workers)
		}
		require.NoError(t, command(t, flags(file, "1")...))
		want := read(file)
		lines := strings.SplitAfter(want, "\n")
		require.ErrorIs(t, commandUntil(envtest.Stopped(t), flags(again, "3")...), context.Canceled)
		for _, text := range []string{read(again), lines[0] + lines[1] + lines[2] + lines[3][:20], want} {
			require.NoError(t, os.WriteFile(again, []byte(text), 0o600))
			require.NoError(t, command(t, flags(again, "3")...))
			require.Equal(t, want, read(again))
		}

		l, _ := envtest.Must2(readLesson(file))
		require.Len(t, l.decisions, 4)
		for i, d := range l.decisions {
			require.GreaterOrEqual(t, len(d.Actions), 2)
			require.True(t, i == 0 || d.Number > l.decisions[i-1].Number)
			for k, v := range d.Values {
				require.True(t, v >= 0 && v <= 1 && d.Errors[k] >= 0 && d.Behind[k] >= 0)
			}
		}
	}
}

// On a panel, the regret of a nominated action follows from the values in the file; another action is valued by the
// panel's own rollouts. The actions of a position share their draws: two rollouts of one action are the same, whatever
// was valued in between, and rollouts of different actions get the same pieces (match.TestDrawsShareThePieces). Different
// rollouts differ.
func TestRegretOnPanel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "panel.jsonl")
	require.NoError(t, command(t, append(tinyPanel(file, "blockbattle"), "hand:ply=1", "learned")...))
	l, g := envtest.Must2(readLesson(file))
	none := program.NewBar(&bytes.Buffer{}, true, -1, "decisions")
	for name, nominated := range map[string]bool{"hand:ply=1": true, "hand": true, "first": false} {
		list := envtest.Must(l.judge(t.Context(), g, name, 2, none))
		require.Len(t, list, 4)
		require.Equal(t, envtest.Must(l.judge(t.Context(), g, name, 1, none)), list)
		for i, v := range list {
			d := l.decisions[i]
			require.Equal(t, !nominated, v.other)
			best := float64(slices.Max(d.Values))
			if nominated {
				require.Contains(t, d.Values, float32(best-v.regret))
				continue
			}
			s := g.Rules.New(2)
			require.NoError(t, env.Decode(s, g.Rules.New(2), d.State))
			r := envtest.Must(newPanel(g.Rules, *l, bots.Own(l.Policy))).rollouts()
			envtest.Must(r.results(t.Context(), &d, s, d.Actions[1], 3))
			results := envtest.Must(r.results(t.Context(), &d, s, s.Legal(d.Seat, nil)[0], 40))
			require.InDelta(t, best-match.MeanOf(results[:8]).Value, v.regret, 1e-6)
			require.Subset(t, results, []float64{0, 1})
		}
	}
}

// The panels of datasets/panels are of the present rules: their positions can be read, and have the actions.
func TestShippedPanels(t *testing.T) {
	for game, positions := range map[*games.Game]int{games.BlockBattle: 500, games.Blocking: 500, games.TetrisDuel: 500} {
		l, g := envtest.Must2(readLesson("../../datasets/panels/" + game.Rules.Name + ".jsonl"))
		require.Same(t, game, g)
		require.Len(t, l.decisions, positions)
		require.Equal(t, 10_000, l.Rollouts)
		s := g.Rules.New(2)
		for _, d := range l.decisions {
			require.NoError(t, env.Decode(s, g.Rules.New(2), d.State))
			require.Subset(t, s.Legal(d.Seat, nil), d.Actions)
		}
	}
}

// The errors of the command say what to do.
func TestPanelRefuses(t *testing.T) {
	dir := t.TempDir()
	file, none, empty := filepath.Join(dir, "panel.jsonl"), filepath.Join(dir, "none"), filepath.Join(dir, "empty")
	require.NoError(t, command(t, tinyPanel(file, "blockbattle", "--positions=1")...))
	require.NoError(t, os.WriteFile(empty, []byte("{}"), 0o600))
	for says, args := range map[string][]string{
		"name another file to make":    tinyPanel(file, "blockbattle", "--rollouts=9"),
		"want a game of two seats":     tinyPanel(none, "dropblox"),
		"--rollouts 1":                 tinyPanel(none, "blockbattle", "--rollouts=1"),
		"want an agent with chance":    tinyPanel(none, "blocking", "--policy=hand:ply=1"),
		`agent "nobody": `:             tinyPanel(none, "blockbattle", "--policy=nobody"),
		"want others for --nominate":   {"regret", none, "--make=blockbattle", "--panel", "--play=first", "--nominate=hand hand"},
		"--teacher has no effect with": tinyPanel(none, "blockbattle", "--teacher=hand"),
		"--rollouts needs --panel":     {"regret", file, "--make=blockbattle", "--rollouts=5"},
		"not decisions with values":    {"regret", empty},
	} {
		require.ErrorContains(t, command(t, args...), says)
	}
	foreign := strings.Replace(read(file), `"policy":"hand:ply=1"`, `"policy":"exec:touch `+dir+`/x"`, 1)
	require.NoError(t, os.WriteFile(file, []byte(foreign), 0o600))
	require.ErrorIs(t, command(t, "regret", file, "first"), bots.ErrUntrusted) // a file starts no program
}
