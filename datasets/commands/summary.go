package commands

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/ansi"
	"blockyard/env/games"
)

// A summary has statistics of games, by the game's name.
type summary map[string]*counted

// A counted is what "datasets stat" adds up over the games of a file.
type counted struct {
	plies, lengths []float64
	stopped        int
	none           int // decisions without an action
	choices, legal int // decisions in the replays, and their legal actions
	most           int // largest number of legal actions of a decision
	agents, seats  map[string]*line
}

// A line is the results of one agent or seat.
type line struct {
	games, won, drawn, lost int
	scores                  []float64
	result                  float64
}

// file adds the games of a file; a quick summary does not replay them.
func (s summary) file(in *input, path string, quick bool) error {
	r, err := in.open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for rec, err := range r.All() {
		if err != nil {
			return err
		}
		c := s[rec.Game]
		if c == nil {
			c = &counted{agents: map[string]*line{}, seats: map[string]*line{}}
			s[rec.Game] = c
		}
		c.add(rec)
		if quick {
			continue
		}
		if err := c.replay(rec); err != nil {
			return fmt.Errorf("%s:%d: %w", path, r.Line(), err)
		}
	}
	return nil
}

func (c *counted) add(rec *record.Record) {
	c.plies = append(c.plies, float64(len(rec.Choices)))
	for _, a := range rec.Choices {
		if a == env.None {
			c.none++
		}
	}
	if rec.Stopped {
		c.stopped++
	}
	for seat := range rec.Seats {
		of(c.agents, rec.Agents[seat]).add(rec, seat)
		of(c.seats, fmt.Sprintf("seat %d", seat+1)).add(rec, seat)
	}
}

func of(m map[string]*line, name string) *line {
	if m[name] == nil {
		m[name] = new(line)
	}
	return m[name]
}

func (l *line) add(rec *record.Record, seat int) {
	l.games++
	l.scores = append(l.scores, float64(rec.Scores[seat]))
	l.result += float64(rec.Results[seat])
	switch r := rec.Results[seat]; {
	case rec.Stopped:
	case r > 0:
		l.won++
	case r < 0:
		l.lost++
	default:
		l.drawn++
	}
}

func (c *counted) replay(rec *record.Record) error {
	g, err := games.Recorded(rec.Game, rec.Table)
	if err != nil {
		return err
	}
	rp := record.NewReplay(g, rec)
	var legal []env.Action
	steps := 0
	for s := range rp.All() {
		for set := s.Acting(); set != 0; set = set.Rest() {
			legal = s.Legal(set.First(), legal[:0])
			c.choices++
			c.legal += len(legal)
			c.most = max(c.most, len(legal))
		}
		steps++
	}
	c.lengths = append(c.lengths, float64(steps-1))
	return rp.Err()
}

// A statCmd has the flags of "datasets stat". Its Run prints lengths, scores and results.
type statCmd struct {
	input
	Each  bool `help:"Print a summary for each file instead of one for all files."`
	Quick bool `help:"Do not replay the games. Leaves out steps and legal actions."`
}

func (c *statCmd) Run(std *program.Console) error {
	all := summary{}
	for _, file := range c.Files {
		if err := all.file(&c.input, file, c.Quick); err != nil {
			return err
		}
		if c.Each {
			fmt.Fprintln(std.Out, file)
			all.write(std.Out)
			all = summary{}
		}
	}
	if !c.Each {
		all.write(std.Out)
	}
	return nil
}

func (s summary) write(w io.Writer) {
	if len(s) == 0 {
		fmt.Fprintln(w, "no games")
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		s[name].write(w, name)
	}
}

func (c *counted) write(w io.Writer, name string) {
	fmt.Fprintf(w, "%s: %d games, %.0f plies\n", name, len(c.plies), floats.Sum(c.plies))
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

func distribution(w io.Writer, name string, of []float64) {
	cells := []string{name, fmt.Sprintf("%.1f", stat.Mean(of, nil))}
	sorted := slices.Sorted(slices.Values(of))
	for _, p := range []float64{0, 0.1, 0.25, 0.5, 0.75, 0.9, 1} {
		cells = append(cells, fmt.Sprintf("%.0f", stat.Quantile(p, stat.Empirical, sorted, nil)))
	}
	fmt.Fprintln(w, strings.Join(cells, "\t")+"\t")
}

func table(w io.Writer, lines map[string]*line) {
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		l := lines[name]
		median := stat.Quantile(0.5, stat.Empirical, slices.Sorted(slices.Values(l.scores)), nil)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%+.3f\t%.1f\t%.0f\t%.0f\t%.0f\t\n",
			ansi.Plain(name, 80), l.games, l.won, l.drawn, l.lost, l.result/float64(l.games), stat.Mean(l.scores, nil),
			slices.Min(l.scores), median, slices.Max(l.scores))
	}
}
