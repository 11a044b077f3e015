package commands

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"blockyard/datasets/program"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
)

// A summary has statistics of games, by the game's name.
type summary struct {
	quick  bool
	byGame map[string]*counted
}

type counted struct {
	plies, lengths []int
	stopped        int
	none           int // decisions without an action
	choices, legal int // decisions in the replays, and their legal actions
	most           int // largest number of legal actions of a decision
	agents, seats  map[string]*line
}

// A line is the results of one agent or seat.
type line struct {
	games, won, drawn, lost int
	scores                  []int
	result                  float64
}

func newSummary(quick bool) *summary { return &summary{quick: quick, byGame: map[string]*counted{}} }

func (s *summary) file(in *input, path string) error {
	r, err := in.open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for rec, err := range r.All() {
		if err != nil {
			return err
		}
		if err := s.add(rec); err != nil {
			return fmt.Errorf("%s:%d: %w", path, r.Line(), err)
		}
	}
	return nil
}

func (s *summary) add(rec *record.Record) error {
	c := s.byGame[rec.Game]
	if c == nil {
		c = &counted{agents: map[string]*line{}, seats: map[string]*line{}}
		s.byGame[rec.Game] = c
	}
	c.plies = append(c.plies, len(rec.Choices))
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
	if s.quick {
		return nil
	}
	g, err := games.Recorded(rec.Game, rec.Table)
	if err != nil {
		return err
	}
	return c.replay(g, rec)
}

func of(m map[string]*line, name string) *line {
	if m[name] == nil {
		m[name] = new(line)
	}
	return m[name]
}

func (l *line) add(rec *record.Record, seat int) {
	l.games++
	l.scores = append(l.scores, rec.Scores[seat])
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

// replay counts decisions and legal actions.
func (c *counted) replay(g *env.Game, rec *record.Record) error {
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
	c.lengths = append(c.lengths, steps-1)
	return rp.Err()
}

type statCmd struct {
	input
	Each  bool `help:"Print a summary for each file instead of one for all files."`
	Quick bool `help:"Do not replay the games. Leaves out steps and legal actions."`
}

func (c *statCmd) Run(std *program.Console) error {
	all := newSummary(c.Quick)
	for _, file := range c.Files {
		if err := all.file(&c.input, file); err != nil {
			return err
		}
		if c.Each {
			fmt.Fprintln(std.Out, file)
			all.write(std.Out)
			all = newSummary(c.Quick)
		}
	}
	if !c.Each {
		all.write(std.Out)
	}
	return nil
}

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
