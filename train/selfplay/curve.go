package selfplay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"math"
	"path/filepath"

	"blockyard/agents/mlp"
	"blockyard/datasets/program/disk"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Draw writes a picture of the run so far as a PNG: the score at every gate. It writes nothing before the first gate.
func (r *Run) Draw(path string) error {
	if len(r.Curve) == 0 {
		return nil
	}
	return DrawCurves(path, []Learned{{fmt.Sprintf("seed %d", r.Options.Seed), r.Game.Rules.Name, r.Curve}})
}

// intervals are scores as a plotter wants them.
type intervals struct {
	plotter.XYs
	plotter.YErrors
}

// addScores adds a line through the scores of gates, each with its interval, and returns the line and its dots.
func addScores(
	p *plot.Plot, curve []Point, x func(Point) float64, c color.Color,
) (line *plotter.Line, dots *plotter.Scatter, err error) {
	var pts intervals
	for _, at := range curve {
		y, low, high := at.value()
		pts.XYs = append(pts.XYs, plotter.XY{X: x(at), Y: y})
		pts.YErrors = append(pts.YErrors, struct{ Low, High float64 }{y - low, high - y})
	}
	if line, dots, err = plotter.NewLinePoints(pts); err != nil {
		return nil, nil, err
	}
	bars, err := plotter.NewYErrorBars(pts)
	if err != nil {
		return nil, nil, err
	}
	line.Color, dots.Color, bars.Color = c, c, c
	p.Add(line, dots, bars)
	return line, dots, nil
}

// addEven adds the line of equal strength, up to an x.
func addEven(p *plot.Plot, end float64) {
	even := plotter.NewFunction(func(float64) float64 { return 0.5 })
	even.Color, even.XMax = color.Gray{160}, end
	p.Add(even)
}

// fitPoints fits the axis to scores. Scores that grow twentyfold need a logarithmic one.
func fitPoints(p *plot.Plot, least, most float64) {
	p.Y.Min, p.Y.Max = 0, 1.05*max(most, 1)
	if most < 20*max(least, 1) {
		return
	}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Y.Min, p.Y.Max = max(1, least/1.5), 1.5*most
}

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
	points, least, most := false, math.Inf(1), math.Inf(-1)
	for i, l := range runs {
		for _, c := range l.Curve {
			_, low, high := c.value()
			points, least, most = points || c.PerGame > 0, min(least, low), max(most, high)
		}
		line, dots, err := addScores(p, l.Curve, seconds, plotutil.DarkColors[i%len(plotutil.DarkColors)])
		if err != nil {
			return fmt.Errorf("curves: %w", err)
		}
		dots.Shape = draw.CircleGlyph{}
		p.Legend.Add(l.Name, line, dots)
	}
	p.X.Min, p.X.Max = 0, 1.02*p.X.Max
	if points {
		p.Y.Label.Text = "points per game"
		fitPoints(p, least, most)
	} else {
		addEven(p, p.X.Max)
		p.Y.Min, p.Y.Max = max(0, min(least, 0.5)-0.02), min(1, max(most, 0.5)+0.02)
	}
	img := vgimg.New(7*vg.Inch, 4*vg.Inch)
	p.Draw(draw.Crop(draw.New(img), 0, -12, 0, -4))
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&b); err != nil {
		return fmt.Errorf("curves: %w", err)
	}
	return disk.WriteText(path, 0o644, b.String())
}
