package commands

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/games"
)

func TestTune(t *testing.T) {
	dir := t.TempDir()
	var files [3][]byte
	for i, seed := range []string{"5", "5", "6"} {
		path := filepath.Join(dir, seed+".json")
		status, out, errs := agents(context.Background(), "tune blockbattle --pairs 6 --check 2 --seed "+seed+" --out "+path)
		require.Zero(t, status, errs)
		require.Contains(t, out, "6 pairs")
		require.Contains(t, out, "of 2 games")
		made, err := program.ReadRun(path + ".run.json")
		require.NoError(t, err)
		require.Equal(t, seed, made.Seed)
		files[i], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	require.Equal(t, files[0], files[1], "the same seed")
	require.NotEqual(t, files[0], files[2], "another seed")
}

// quick is how a few short pairs of a game are played.
var quick = map[string]string{
	"dropblox":       "--with width=1,depth=1 --steps 12",
	"wintetris:tick": "--steps 300",
	"wintetris":      "--cap 20",
	"blockbattle":    "--with ply=1",
	"tetrisduel":     "--with ply=1",
	"blocking":       "",
}

// TestTuneEveryGame moves the weights of every game's hand, and hand takes them.
func TestTuneEveryGame(t *testing.T) {
	for _, g := range games.All {
		h := bots.Of(g).Baseline
		shipped, err := h.Load("")
		require.NoError(t, err)
		require.Len(t, h.Terms, len(shipped), g.Name)
		name, _, _ := strings.Cut(g.Name, ":")
		how := quick[g.Name]
		if how == "" {
			how = quick[name]
		}
		path := filepath.Join(t.TempDir(), "w.json")
		status, out, errs := agents(context.Background(), "tune "+g.Name+" --pairs 8 --check 2 "+how+" --out "+path)
		require.Zero(t, status, errs)
		require.Contains(t, out, "8 pairs", g.Name)
		tuned, err := h.Load(path)
		require.NoError(t, err)
		require.NotEqual(t, shipped, tuned, g.Name)
		_, err = bots.New(g, bots.Own("hand:weights="+path))
		require.NoError(t, err)
	}
}

// TestHandOfGivenWeights is hand, by the weights it is shipped with.
func TestHandOfGivenWeights(t *testing.T) {
	for _, g := range games.All {
		w, err := bots.Of(g).Baseline.Load("")
		require.NoError(t, err)
		ours, err := bots.HandTuned(g, w, "")
		require.NoError(t, err)
		theirs, err := bots.New(g, bots.Own("hand"))
		require.NoError(t, err)
		require.Equal(t, opening(t, g, theirs), opening(t, g, ours), g.Name)
		_, err = bots.HandTuned(g, w[1:], "")
		require.ErrorContains(t, err, "weights do not fit")
		_, err = bots.HandTuned(g, w, "weights=other.json")
		require.ErrorContains(t, err, "the weights are given")
	}
}

// opening is what players of a factory choose in the first turns of a game.
func opening(t *testing.T, g *env.Game, f bots.Factory) (chosen []env.Action) {
	s := g.New(g.MinSeats)
	s.Reset(4)
	a, err := f(1)
	require.NoError(t, err)
	for range 6 {
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			view := g.New(g.MinSeats)
			env.View(view, s, set.First(), 9)
			m[set.First()], err = a.Act(context.Background(), view, set.First())
			require.NoError(t, err)
			chosen = append(chosen, m[set.First()])
		}
		s.Step(m)
	}
	return chosen
}

// A game may have more terms than a random word has bits: every term moves both ways, and no
// two terms always move together.
func TestRandomSignsForManyTerms(t *testing.T) {
	const terms, draws = 150, 64
	var coin, again env.Rand
	coin.Seed(3)
	again.Seed(3)
	signs, columns := make([]float32, terms), make([]uint64, terms)
	for n := range draws {
		randomSigns(&coin, signs)
		word := again.Next() // the first 64 are the bits of the first word
		for i, v := range signs {
			require.Contains(t, []float32{-1, 1}, v)
			if v > 0 {
				columns[i] |= 1 << n
			}
			require.True(t, i >= 64 || (v > 0) == (word>>i&1 != 0))
		}
		again.Next()
		again.Next()
	}
	seen := map[uint64]bool{0: true, 1<<draws - 1: true}
	for i, c := range columns {
		require.False(t, seen[c], "term %d", i)
		seen[c] = true
	}
}

func TestTuneCutShortKeepsWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, g := range games.All {
		path := filepath.Join(t.TempDir(), "w.json")
		status, out, errs := agents(ctx, "tune "+g.Name+" --out "+path)
		require.Zero(t, status, errs)
		require.Contains(t, out, "0 pairs")
		h := bots.Of(g).Baseline
		want, err := h.Load("")
		require.NoError(t, err)
		w, err := h.Load(path)
		require.NoError(t, err)
		require.Equal(t, want, w)
	}
}

func TestTuneRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"tune chess --out x":                             "chess",
		"tune blockbattle --out x --with ply=9":          "ply",
		"tune blockbattle --out x --with weights=a.json": "the weights are given",
		"tune blockbattle --out x --cap 5":               "--cap and --steps are for games of one seat",
		"tune wintetris --out x --with ply=1":            "unknown option",
		"tune blockbattle --out x --pairs 0":             "--pairs 0: want a number from 1",
		"tune blockbattle --out x --spread 2":            "--spread 2: want a number between 0 and 1",
		"tune blockbattle --out x --from none.json":      "none.json",
		"tune blockbattle --out x --check 3 --seed 1":    "--check 3: want an even number",
		"tune blockbattle":                               "--out",
	} {
		status, _, errs := agents(context.Background(), line)
		require.Equal(t, 2, status, line)
		require.Contains(t, errs, want, line)
	}
}
