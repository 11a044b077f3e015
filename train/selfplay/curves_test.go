package selfplay

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/train/games"
)

// The curves of several runs are one picture, with a colour for each, over the CPU time that states record.
func TestCurvesOfRuns(t *testing.T) {
	dir := t.TempDir()
	var all []Learned
	for i, name := range []string{"one", "two"} {
		r := startStub()
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		state := filepath.Join(dir, name, StateFile)
		require.NoError(t, r.Save(state))
		require.ErrorContains(t, envtest.Failed(ReadLearned(filepath.Dir(state))), "no gate yet")
		r.Curve = []Point{{Score: .3, Low: .2, High: .4, CPU: 10}, {Score: .5 + .1*float64(i), Low: .5, High: .6, CPU: 20}}
		require.NoError(t, r.Save(state))
		l := envtest.Must(ReadLearned(filepath.Dir(state)))
		require.Equal(t, Learned{Name: name, Game: r.Game.Rules.Name, Curve: r.Curve}, l)
		all = append(all, l)
	}
	path := filepath.Join(dir, "curves.svg")
	require.NoError(t, DrawCurves(path, all[:1]))
	require.Equal(t, 2, drawn(t, path, "circle"))
	require.NoError(t, DrawCurves(path, all))
	require.Equal(t, 4, drawn(t, path, "circle"))

	all[1].Curve[0].Against = "combo"
	require.ErrorContains(t, DrawCurves(path, all), "gates of two play against combo, those of one against hand")
	all[1].Game = "another"
	require.ErrorContains(t, DrawCurves(path, all), "two is a run of another")
	require.ErrorContains(t, DrawCurves(path, nil), "no runs")
	require.ErrorIs(t, envtest.Failed(ReadLearned(dir)), os.ErrNotExist)
}

// drawn counts the elements of one kind in a picture.
func drawn(t *testing.T, path, kind string) (n int) {
	f := envtest.Must(os.Open(path))
	defer func() { require.NoError(t, f.Close()) }()
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == kind {
			n++
		}
	}
}

// A run's own picture has its scores, in points on a logarithmic axis if they grow a lot.
func TestDraw(t *testing.T) {
	r := startStub()
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
	r := startStub()
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
