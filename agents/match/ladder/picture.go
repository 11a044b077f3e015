package ladder

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// rows are the ratings of the players as a plotter wants them, the strongest at the top.
type rows []Standing

func (r rows) Len() int { return len(r) }

func (r rows) XY(i int) (x, y float64) { return r[i].Elo.Value, float64(len(r) - 1 - i) }

func (r rows) XError(i int) (low, high float64) {
	return r[i].Elo.Value - r[i].Elo.Low, r[i].Elo.High - r[i].Elo.Value
}

const margin vg.Length = 8 // around the picture, in points

// Draw writes a picture of the ratings with their 95 % intervals as PNG.
func (r *Report) Draw(to io.Writer) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s: %d games, seed %d", r.Game, r.Games, r.Seed)
	p.X.Label.Text = "Elo relative to the mean, with 95 % intervals"
	players := rows(r.Players)
	bars, err := plotter.NewXErrorBars(players)
	if err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	dots, err := plotter.NewScatter(players)
	if err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: color.RGBA{31, 119, 180, 255}, Radius: 3.5, Shape: draw.CircleGlyph{}}
	var names []plot.Tick
	for i, s := range players {
		_, y := players.XY(i)
		names = append(names, plot.Tick{Value: y, Label: s.Name})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(names)
	p.Y.Min, p.Y.Max = -0.5, float64(len(players))-0.5
	grid := plotter.NewGrid()
	grid.Horizontal.Color = color.Gray{225}
	grid.Vertical.Color = color.Gray{225}
	p.Add(grid, bars, dots)
	pad := 0.03 * (p.X.Max - p.X.Min)
	p.X.Min, p.X.Max = p.X.Min-pad, p.X.Max+pad
	size := vg.Length(1.2+0.3*float64(len(players))) * vg.Inch
	c := vgimg.NewWith(vgimg.UseWH(7*vg.Inch, size), vgimg.UseDPI(120))
	p.Draw(draw.Crop(draw.New(c), margin, -margin, margin, -margin))
	_, err = (vgimg.PngCanvas{Canvas: c}).WriteTo(to)
	return err
}
