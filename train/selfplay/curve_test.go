package selfplay

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"blockyard/train/games"

	"github.com/stretchr/testify/require"
)

func TestDraw(t *testing.T) {
	r := startStub(t, &stub{}, Options{Seed: 1, Games: 1, Iterations: 9, Gates: 3})
	path := filepath.Join(t.TempDir(), "curve.png")
	require.NoError(t, r.Draw(path))
	require.NoFileExists(t, path, "no gate yet")
	r.Counts.Rows = 2e6
	r.Curve = []Point{{Rows: 1e6, Loss: .6, Score: .3, Low: .2, High: .4}}
	require.NoError(t, r.Draw(path), "one point, and a state that kept no losses")
	r.Curve = append(r.Curve, Point{Rows: 2e6, Loss: .5, Score: .6, Low: .5, High: .7})
	r.Losses = []LossPoint{{1, 1e5, .7}, {2, 2e6, .5}}
	require.NoError(t, r.Draw(path))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	img, err := png.Decode(f)
	require.NoError(t, err)
	require.Greater(t, img.Bounds().Dx(), 400)
	colours := map[any]bool{}
	for x := 0; x < img.Bounds().Dx(); x++ {
		colours[img.At(x, img.Bounds().Dy()/4)] = true
	}
	require.Greater(t, len(colours), 1, "a blank picture")
}

// Axes hold the scores with their intervals, and no empty decades or halves.
func TestAxesFitTheScores(t *testing.T) {
	r := startStub(t, &stub{}, Options{Seed: 1, Games: 1, Iterations: 9, Gates: 3})
	r.Counts.Rows = 5000
	r.Curve = []Point{{Rows: 5000, Score: .55, Low: .52, High: .58}}
	p, err := r.scorePlot(newRowAxis(r.Counts.Rows))
	require.NoError(t, err)
	require.Zero(t, p.X.Min)
	require.InDelta(t, 5, p.X.Max, 0.1, "thousand rows")
	require.True(t, p.Y.Min > .45 && p.Y.Min < .5, p.Y.Min)
	require.True(t, p.Y.Max > .58 && p.Y.Max < .62, p.Y.Max)

	r.Game = games.WinTetris
	r.Curve = []Point{{Rows: 1, Score: 2, PerGame: 2, Low: 1, High: 4}, {Rows: 2, Score: 9000, PerGame: 9000, Low: 3000}}
	p, err = r.scorePlot(newRowAxis(r.Counts.Rows))
	require.NoError(t, err)
	require.True(t, p.Y.Min >= 1 && p.Y.Max > 9000 && p.Y.Max < 20000, "%v to %v", p.Y.Min, p.Y.Max)
	r.Curve = []Point{{Rows: 1, Score: 500, PerGame: 500, Low: 450, High: 550}}
	p, err = r.scorePlot(newRowAxis(r.Counts.Rows))
	require.NoError(t, err)
	require.True(t, p.Y.Min == 0 && p.Y.Max > 550 && p.Y.Max < 600, "%v to %v", p.Y.Min, p.Y.Max)
}

// A run keeps a bounded number of losses, spread over all of it.
func TestLossesAreKeptThroughout(t *testing.T) {
	r := &Run{}
	for i := range 5000 {
		r.Counts.Iterations, r.Counts.Rows, r.Counts.Loss = i+1, 10*(i+1), float64(i)
		r.noteLoss()
	}
	require.LessOrEqual(t, len(r.Losses), maxLosses)
	require.Greater(t, len(r.Losses), maxLosses/4)
	stride := r.Losses[0].Iteration
	for i, p := range r.Losses {
		require.Equal(t, (i+1)*stride, p.Iteration)
	}
	require.Greater(t, r.Losses[len(r.Losses)-1].Iteration, 5000-stride)
}

func TestGateLines(t *testing.T) {
	r := startStub(t, &stub{}, Options{Seed: 1, Games: 1, Iterations: 9, Gates: 3})
	require.Equal(t, "no gate yet", r.LastScore())
	r.Counts.Gated = 1
	r.Curve = []Point{{Score: .5, Low: .4, High: .6, Games: 40, VersusBest: .5, Kept: true}}
	require.Contains(t, r.LastGate(), "vs hand 50.0% (40.0 to 60.0) of 40 games, no best yet  kept")
	r.Curve = append(r.Curve, Point{Score: .5, Low: .4, High: .6, Games: 40, VersusBest: .45})
	require.Contains(t, r.LastGate(), "of 40 games, vs best 45.0%")
	r.Game = games.WinTetris
	r.Curve = []Point{{Score: 30, PerGame: 30, Points: 90, Ends: 3, Games: 5, Kept: true}}
	require.Contains(t, r.LastGate(), "90 points in 5 games, 3 ended: 30 points per game  kept")
}

func TestRoundTicks(t *testing.T) {
	for _, c := range [][]float64{{0, 267, 50}, {0, 1, .2}, {.47, .59, .02}, {0.012, 0.07, 0.01}, {0, 999, 200}} {
		ticks := roundTicks(c[0], c[1])
		require.True(t, len(ticks) >= 4 && len(ticks) <= 11, "%v: %v", c, ticks)
		require.InDelta(t, c[2], ticks[1].Value-ticks[0].Value, 1e-9, "%v", c)
	}
}
