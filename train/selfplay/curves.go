package selfplay

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"blockyard/agents/mlp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// A Learned is what a run has learned so far, by its scores at its gates.
type Learned struct {
	Name  string // of the run's folder
	Game  string
	Curve []Point
}

// ReadLearned reads the state file in the folder of a run.
func ReadLearned(dir string) (Learned, error) {
	path := filepath.Join(dir, StateFile)
	data, err := mlp.ReadFile(path)
	if err != nil {
		return Learned{}, err
	}
	_, meta, err := mlp.ParseTensors(data)
	if err != nil {
		return Learned{}, fmt.Errorf("%s: %w", path, err)
	}
	l := Learned{Name: filepath.Base(dir)}
	if err := json.Unmarshal([]byte(meta["run"]), &l); err != nil {
		return Learned{}, fmt.Errorf("%s: not a saved run: %w", path, err)
	}
	if len(l.Curve) == 0 {
		return Learned{}, fmt.Errorf("%s: no gate yet: there is nothing to draw", path)
	}
	return l, nil
}

// DrawCurves writes a PNG with the scores of runs of one game, with 95 % intervals, over the CPU time of their
// training. If one of them was made by a version that did not record CPU time, it is the time on the clock.
func DrawCurves(path string, runs []Learned) error {
	if len(runs) == 0 {
		return errors.New("no runs to draw")
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text = runs[0].Game, "CPU seconds of training"
	against := runs[0].Curve[0].opponents()
	p.Y.Label.Text = "score against " + against
	seconds := func(p Point) float64 { return p.CPU }
	for _, l := range runs {
		if l.Game != runs[0].Game {
			return fmt.Errorf("%s is a run of %s, %s of %s: draw runs of one game", l.Name, l.Game, runs[0].Name, runs[0].Game)
		}
		if other := l.Curve[0].opponents(); other != against {
			return fmt.Errorf("gates of %s play against %s, those of %s against %s: draw runs with the same opponents",
				l.Name, other, runs[0].Name, against)
		}
		if l.Curve[len(l.Curve)-1].CPU == 0 {
			p.X.Label.Text, seconds = "seconds of training", func(p Point) float64 { return p.Seconds }
		}
	}
	p.Add(plotter.NewGrid())
	points := false
	for i, l := range runs {
		points = points || slices.ContainsFunc(l.Curve, func(c Point) bool { return c.PerGame > 0 })
		line, dots, err := addScores(p, l.Curve, seconds, plotutil.DarkColors[i%len(plotutil.DarkColors)])
		if err != nil {
			return fmt.Errorf("curves: %w", err)
		}
		dots.Shape = draw.CircleGlyph{}
		p.Legend.Add(l.Name, line, dots)
	}
	p.X.Min, p.X.Max = 0, 1.02*p.X.Max
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	if points {
		p.Y.Label.Text = "points per game"
	} else {
		addEven(p, p.X.Max)
		p.Y.Min, p.Y.Max = max(0, min(p.Y.Min, 0.5)-0.02), min(1, max(p.Y.Max, 0.5)+0.02)
	}
	img := vgimg.New(7*vg.Inch, 4*vg.Inch)
	p.Draw(draw.Crop(draw.New(img), 0, -12, 0, -4))
	return writePNG(path, img)
}
