package selfplay

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"blockyard/agents/mlp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Draw writes a picture of a run so far as a PNG: the score against the hand-tuned player
// with its interval, and the loss below, over millions of rows. It writes nothing before
// the first gate.
func Draw(path, title string, curve []Point) error {
	if len(curve) == 0 {
		return nil
	}
	score, err := scorePlot(title, curve)
	if err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	loss, err := lossPlot(curve)
	if err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	img := vgimg.New(7*vg.Inch, 6*vg.Inch)
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Points(8)}
	canvases := plot.Align([][]*plot.Plot{{score}, {loss}}, tiles, draw.New(img))
	score.Draw(canvases[0][0])
	loss.Draw(canvases[1][0])
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&b); err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	return mlp.WriteFile(path, b.Bytes())
}

// points are a curve as a plotter wants it, with intervals.
type points struct {
	plotter.XYs
	plotter.YErrors
}

func scorePlot(title string, curve []Point) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	p.Y.Label.Text = "score against hand"
	p.Y.Min, p.Y.Max = 0, 1
	var pts points
	for _, c := range curve {
		pts.XYs = append(pts.XYs, plotter.XY{X: float64(c.Rows) / 1e6, Y: c.Score})
		pts.YErrors = append(pts.YErrors, struct{ Low, High float64 }{c.Score - c.Low, c.High - c.Score})
	}
	line, dots, err := plotter.NewLinePoints(pts)
	if err != nil {
		return nil, err
	}
	bars, err := plotter.NewYErrorBars(pts)
	if err != nil {
		return nil, err
	}
	even := plotter.NewFunction(func(float64) float64 { return 0.5 })
	even.Color = color.Gray{160}
	even.XMax = math.Inf(1)
	p.Add(plotter.NewGrid(), even, line, dots, bars)
	p.Y.Min, p.Y.Max = 0, 1
	return p, nil
}

func lossPlot(curve []Point) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text = "million rows"
	p.Y.Label.Text = "loss"
	var xys plotter.XYs
	for _, c := range curve {
		xys = append(xys, plotter.XY{X: float64(c.Rows) / 1e6, Y: c.Loss})
	}
	line, dots, err := plotter.NewLinePoints(xys)
	if err != nil {
		return nil, err
	}
	p.Add(plotter.NewGrid(), line, dots)
	return p, nil
}
