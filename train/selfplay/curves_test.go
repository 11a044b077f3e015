package selfplay

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The curves of several runs are one picture, with a colour for each, over the CPU time that states record.
func TestCurvesOfRuns(t *testing.T) {
	dir := t.TempDir()
	var all []Learned
	for i, name := range []string{"one", "two"} {
		r := startStub(t)
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		state := filepath.Join(dir, name, StateFile)
		require.NoError(t, r.Save(state))
		_, err := ReadLearned(filepath.Dir(state))
		require.ErrorContains(t, err, "no gate yet")
		r.Curve = []Point{{Score: .3, Low: .2, High: .4, CPU: 10}, {Score: .5 + .1*float64(i), Low: .5, High: .6, CPU: 20}}
		require.NoError(t, r.Save(state))
		l, err := ReadLearned(filepath.Dir(state))
		require.NoError(t, err)
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
	_, err := ReadLearned(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// drawn counts the elements of one kind in a picture.
func drawn(t *testing.T, path, kind string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
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
