package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

func (s *summary) write(w io.Writer) {
	if len(s.byGame) == 0 {
		fmt.Fprintln(w, "no games")
	}
	for _, name := range slices.Sorted(maps.Keys(s.byGame)) {
		s.byGame[name].write(w, name)
	}
}

func (c *counted) write(w io.Writer, name string) {
	total := 0
	for _, n := range c.plies {
		total += n
	}
	fmt.Fprintf(w, "%s: %d games, %d plies\n", name, len(c.plies), total)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tmean\tmin\t10 %\t25 %\tmedian\t75 %\t90 %\tmax\t")
	distribution(t, "plies per game", c.plies)
	if len(c.lengths) > 0 {
		distribution(t, "steps per game", c.lengths)
	}
	t.Flush()
	if c.choices > 0 {
		fmt.Fprintf(w, "  legal actions: mean %.1f, most %d\n", float64(c.legal)/float64(c.choices), c.most)
	}
	if c.none > 0 {
		fmt.Fprintf(w, "  decisions without an action: %d\n", c.none)
	}
	if c.stopped > 0 {
		fmt.Fprintf(w, "  games stopped early: %d\n", c.stopped)
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tgames\twon\tdrawn\tlost\tresult\tscore\tmin\tmedian\tmax\t")
	table(t, c.agents)
	table(t, c.seats)
	t.Flush()
}

// distribution writes the mean and percentiles of some numbers.
func distribution(w io.Writer, name string, of []int) {
	cells := []string{name, fmt.Sprintf("%.1f", mean(of))}
	sorted := slices.Sorted(slices.Values(of))
	for _, p := range []int{0, 10, 25, 50, 75, 90, 100} {
		cells = append(cells, fmt.Sprint(percentile(sorted, p)))
	}
	fmt.Fprintln(w, strings.Join(cells, "\t")+"\t")
}

// table writes one line per agent or seat.
func table(w io.Writer, lines map[string]*line) {
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		l := lines[name]
		sorted := slices.Sorted(slices.Values(l.scores))
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%+.3f\t%.1f\t%d\t%d\t%d\t\n", name, l.games, l.won, l.drawn, l.lost,
			l.result/float64(l.games), mean(l.scores), percentile(sorted, 0), percentile(sorted, 50), percentile(sorted, 100))
	}
}

func mean(of []int) float64 {
	sum := 0.0
	for _, n := range of {
		sum += float64(n)
	}
	return sum / float64(len(of))
}

// percentile is the nearest-rank percentile of ascending numbers.
func percentile(sorted []int, p int) int {
	rank := (p*len(sorted) + 99) / 100
	return sorted[min(max(rank-1, 0), len(sorted)-1)]
}
