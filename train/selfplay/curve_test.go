package selfplay

import (
	"path/filepath"
	"testing"

	"blockyard/train/games"

	"github.com/stretchr/testify/require"
)

// A run's own picture has its scores, in points on a logarithmic axis if they grow a lot.
func TestDraw(t *testing.T) {
	r := startStub(t)
	path := filepath.Join(t.TempDir(), "curve.svg")
	require.NoError(t, r.Draw(path))
	require.NoFileExists(t, path, "no gate yet")
	r.Curve = []Point{{CPU: 1, Score: .3, Low: .2, High: .4}}
	require.NoError(t, r.Draw(path))
	r.Curve = append(r.Curve, Point{CPU: 2, Score: .6, Low: .5, High: .7})
	require.NoError(t, r.Draw(path))
	require.Equal(t, 2, drawn(t, path, "circle"))
	r.Game = games.WinTetris
	r.Curve = []Point{{CPU: 1, Score: 2, PerGame: 2, Low: -1, High: 5}, {CPU: 2, Score: 500, PerGame: 500, Low: 450, High: 550}}
	require.NoError(t, r.Draw(path))
	require.Equal(t, 2, drawn(t, path, "circle"))
}

func TestGateLines(t *testing.T) {
	r := startStub(t)
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
