package match

import (
	"fmt"
	"io"

	"blockyard/datasets/program/chart"
)

// Draw writes a picture of the ratings with their 95 % intervals as SVG, the strongest at the top.
func (r *Report) Draw(to io.Writer) error {
	var rows []chart.Row
	for _, s := range r.Players {
		rows = append(rows, chart.Row{Name: s.Name, Value: s.Elo.Value, Low: s.Elo.Low, High: s.Elo.High})
	}
	title := fmt.Sprintf("%s: %d games, seed %s", r.Game, r.Games, r.Seed)
	_, err := io.WriteString(to, chart.Rows(title, "Elo relative to the mean, with 95 % intervals", rows))
	return err
}
