package selfplay

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strconv"

	"blockyard/agents/mlp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Draw writes a picture of the run so far as a PNG: the score at every gate with its
// 95 % interval, and the loss below, over the rows learned from. It writes nothing before
// the first gate.
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
	return mlp.WriteFile(path, b.Bytes())
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
