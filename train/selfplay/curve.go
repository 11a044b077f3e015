package selfplay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/datasets/program/disk"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Draw writes a picture of the run so far as a PNG: the score at every gate with its 95 % interval, and the loss
// below, over the rows learned from. It writes nothing before the first gate.
func (r *Run) Draw(path string) error {
	if len(r.Curve) == 0 {
		return nil
	}
	x := newRowAxis(r.Counts.Rows)
	score, err := r.scorePlot(x)
	if err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	loss, err := r.lossPlot(x)
	if err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	img := vgimg.New(7*vg.Inch, 6*vg.Inch)
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Points(8), PadRight: vg.Points(12), PadTop: vg.Points(4)}
	canvases := plot.Align([][]*plot.Plot{{score}, {loss}}, tiles, draw.New(img))
	score.Draw(canvases[0][0])
	loss.Draw(canvases[1][0])
	return writePNG(path, img)
}

// A rowAxis counts rows in a unit that suits their number.
type rowAxis struct {
	label     string
	unit, end float64
}

func newRowAxis(rows int) rowAxis {
	a := rowAxis{label: "rows", unit: 1}
	if rows >= 2e6 {
		a = rowAxis{label: "million rows", unit: 1e6}
	} else if rows >= 2e3 {
		a = rowAxis{label: "thousand rows", unit: 1e3}
	}
	a.end = float64(max(1, rows)) / a.unit
	return a
}

func (a rowAxis) of(rows int) float64 { return float64(rows) / a.unit }

// fit makes the axis end a little after the last row.
func (a rowAxis) fit(p *plot.Plot) {
	p.X.Min, p.X.Max = 0, 1.02*a.end
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
}

// roundTicks are four to ten labels at multiples of 1, 2 or 5 times a power of ten.
func roundTicks(least, most float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((most-least)/4)))
	for _, times := range []float64{5, 2} {
		if (most-least)/(times*step) >= 4 {
			step *= times
			break
		}
	}
	for i := math.Ceil(least/step) + 0; i*step <= most; i++ { // + 0: never -0
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 4, 64)})
	}
	return ticks
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

// writePNG writes a picture to a file.
func writePNG(path string, img *vgimg.Canvas) error {
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&b); err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return disk.WriteText(path, 0o644, b.String())
}

func (r *Run) scorePlot(x rowAxis) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s, seed %d: %d games", r.Game.Rules.Name, r.Options.Seed, r.Counts.Games)
	p.Y.Label.Text = "score against hand"
	if n := len(r.Curve); n > 0 {
		p.Y.Label.Text = "score against " + r.Curve[n-1].opponents()
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, c := range r.Curve {
		_, low, high := c.value()
		least, most = min(least, low), max(most, high)
	}
	p.Add(plotter.NewGrid())
	if _, _, err := addScores(p, r.Curve, func(c Point) float64 { return x.of(c.Rows) }, color.Black); err != nil {
		return nil, err
	}
	x.fit(p)
	if r.Game.Solo != nil {
		p.Y.Label.Text = "points per game"
		fitPoints(p, least, most)
		return p, nil
	}
	addEven(p, x.end)
	least, most = min(least, 0.5), max(most, 0.5)
	pad := 0.1 * max(most-least, 0.1)
	p.Y.Min, p.Y.Max = max(0, least-pad), min(1, most+pad)
	return p, nil
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

func (r *Run) lossPlot(x rowAxis) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x.label, "loss"
	x.fit(p)
	var xys plotter.XYs
	for _, c := range r.Losses {
		xys = append(xys, plotter.XY{X: x.of(c.Rows), Y: c.Loss})
	}
	for _, c := range r.Curve {
		if len(r.Losses) == 0 || c.Rows < r.Losses[0].Rows { // of a state that kept no losses
			xys = append(xys, plotter.XY{X: x.of(c.Rows), Y: c.Loss})
		}
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return nil, err
	}
	p.Add(plotter.NewGrid(), line)
	pad := 0.05 * max(p.Y.Max-p.Y.Min, 1e-3*p.Y.Max, 1e-9)
	p.Y.Min, p.Y.Max = p.Y.Min-pad, p.Y.Max+pad
	return p, nil
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
