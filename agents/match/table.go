package match

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// A Line is a player's line in a table of standings: its results, and the cells before and behind them.
type Line struct {
	Before []string
	Games  int
	Counts
	Elo   Estimate
	After []string
}

// Table lays out standings, the best first, with their places. before and after are the heads of the cells of a Line.
func Table(before, after []string, lines []Line) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(place string, before []string, middle string, after []string) {
		for _, cell := range append(append([]string{place}, before...), append([]string{middle}, after...)...) {
			fmt.Fprint(w, cell, "\t")
		}
		fmt.Fprintln(w)
	}
	row("place", before, "games\twins\tdraws\tlosses\tscore\tElo\t95 % interval", after)
	for k, l := range lines {
		row(fmt.Sprint(k+1), l.Before, fmt.Sprintf("%d\t%d\t%d\t%d\t%.1f %%\t%+.0f\t%+.0f to %+.0f", l.Games, l.Wins, l.Draws,
			l.Losses, 100*l.Share(), l.Elo.Value, l.Elo.Low, l.Elo.High), l.After)
	}
	w.Flush()
	return b.String()
}
