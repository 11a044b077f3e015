package single

import (
	"bytes"
	"fmt"

	"blockyard/agents/mlp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Draw writes a picture of a run so far as a PNG: points a game, on a scale of powers of
// ten, and the loss below, over millions of rows. It writes nothing before the first gate.
func Draw(path, title string, curve []Point) error {
	if len(curve) == 0 {
		return nil
	}
	score, err := line("points a game", curve, func(p Point) float64 { return max(p.PerGame, 1) })
	if err != nil {
		return err
	}
	score.Title.Text = title
	score.Y.Scale, score.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	score.Y.Min, score.Y.Max = 1, max(10, 2*score.Y.Max) // a scale of powers has no 0
	loss, err := line("loss", curve, func(p Point) float64 { return p.Loss })
	if err != nil {
		return err
	}
	loss.X.Label.Text, loss.Y.Min = "million rows", 0
	img := vgimg.New(7*vg.Inch, 6*vg.Inch)
	canvases := plot.Align([][]*plot.Plot{{score}, {loss}}, draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Points(8)}, draw.New(img))
	score.Draw(canvases[0][0])
	loss.Draw(canvases[1][0])
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&b); err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	return mlp.WriteFile(path, b.Bytes())
}

func line(label string, curve []Point, y func(Point) float64) (*plot.Plot, error) {
	p := plot.New()
	p.Y.Label.Text = label
	var pts plotter.XYs
	for _, c := range curve {
		pts = append(pts, plotter.XY{X: float64(c.Rows) / 1e6, Y: y(c)})
	}
	l, dots, err := plotter.NewLinePoints(pts)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	p.Add(plotter.NewGrid(), l, dots)
	return p, nil
}
