package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"blockyard/agents/dropbloxcontest"
)

// errors is where standard error goes: the program writes the file itself.
func (l dropbloxLog) errors() io.Writer {
	if l.file == nil {
		return nil
	}
	return l.file
}

func (l dropbloxLog) console() *dropbloxcontest.Console {
	if l.file == nil {
		return nil
	}
	return &dropbloxcontest.Console{W: l.file}
}

func (l dropbloxLog) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// An estimate is a mean and its 95 % interval, which takes two values or more.
type estimate struct {
	Mean float64  `json:"mean"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// estimateOf is mean ± t·s/√n, with Student's t for n-1 degrees of freedom.
func estimateOf(values []float64) (e estimate) {
	if len(values) == 0 {
		return e
	}
	n := float64(len(values))
	mean, deviation := stat.MeanStdDev(values, nil)
	e.Mean = mean
	if n > 1 {
		half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * deviation / math.Sqrt(n)
		low, high := mean-half, mean+half
		e.Low, e.High = &low, &high
	}
	return e
}

// format is the estimate in words.
func (e estimate) format(verb string) string {
	text := fmt.Sprintf(verb, e.Mean)
	if e.Low != nil {
		text += fmt.Sprintf(" ("+verb+" to "+verb+")", *e.Low, *e.High)
	}
	return text
}

// A dropbloxSummary is what a tournament came to.
type dropbloxSummary struct {
	Game    string          `json:"game"`
	Seconds float64         `json:"seconds"`
	Turns   int             `json:"turns,omitempty"` // the limit
	Seeds   []string        `json:"seeds"`
	Bots    []*dropbloxBot  `json:"bots"`
	Played  []*dropbloxGame `json:"played"`
	Stopped bool            `json:"stopped,omitempty"`
}

// A dropbloxBot is how one program did.
type dropbloxBot struct {
	Name   string         `json:"name"`
	Games  int            `json:"games"`
	Score  estimate       `json:"score"`
	Gain   *estimate      `json:"gain,omitempty"` // over the first program, on the seeds that both played
	Best   int            `json:"best"`
	Turns  float64        `json:"turns"` // mean
	MeanMS float64        `json:"mean_ms"`
	MostMS float64        `json:"longest_ms"`
	Ends   map[string]int `json:"ends"` // games by reason

	scores, gains []float64
	turns         int
	used          time.Duration
}

func (s *dropbloxSeries) summary(stopped bool) *dropbloxSummary {
	out := &dropbloxSummary{Game: "dropblox", Seconds: s.Seconds, Turns: s.Turns, Seeds: s.Seeds, Played: []*dropbloxGame{}, Stopped: stopped}
	for b, p := range s.bots {
		t := &dropbloxBot{Name: p.Name, Ends: map[string]int{}}
		for i := range s.results {
			if g := s.results[i][b]; g != nil {
				t.add(g, s.results[i][0])
			}
		}
		t.Score = estimateOf(t.scores)
		if b > 0 {
			gain := estimateOf(t.gains)
			t.Gain = &gain
		}
		t.MeanMS = meanMS(t.used, t.turns)
		if t.Games > 0 {
			t.Turns = float64(t.turns) / float64(t.Games)
		}
		out.Bots = append(out.Bots, t)
	}
	for _, games := range s.results {
		for _, g := range games {
			if g != nil {
				out.Played = append(out.Played, g)
			}
		}
	}
	return out
}

// add books a game; first is the first program's of the same seed, or nil.
func (t *dropbloxBot) add(g, first *dropbloxGame) {
	t.Games++
	t.scores = append(t.scores, float64(g.Score))
	if first != nil {
		t.gains = append(t.gains, float64(g.Score-first.Score))
	}
	t.Best = max(t.Best, g.Score)
	t.turns += g.Turns
	t.used += g.used
	t.MostMS = max(t.MostMS, g.MostMS)
	t.Ends[string(g.Reason)]++
}

// write prints the summary for people, or as a line of JSON.
func (d *dropbloxSummary) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(d)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "dropblox: %d programs on %d seeds, %g s a game", len(d.Bots), len(d.Seeds), d.Seconds)
	if d.Turns > 0 {
		fmt.Fprintf(&b, ", at most %d turns", d.Turns)
	}
	if d.Stopped {
		b.WriteString(", stopped early")
	}
	b.WriteString("\n\nseed                  program  score  turns  ms a turn  longest ms  end\n")
	for _, g := range d.Played {
		fmt.Fprintf(&b, "%-20.20s  %-7s  %5d  %5d  %9.1f  %10.1f  %s", g.Seed, letter(g.Bot), g.Score, g.Turns, g.MeanMS, g.MostMS, g.Reason)
		if g.Fault != "" {
			fmt.Fprintf(&b, ": %s", g.Fault)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nprogram  games  mean score (95 % interval)  best  turns   ms a turn  longest ms  ends\n")
	for i, t := range d.Bots {
		fmt.Fprintf(&b, "%-7s  %5d  %-26s  %4d  %6.1f  %9.1f  %10.1f  %s\n", letter(i), t.Games, t.Score.format("%.1f"), t.Best,
			t.Turns, t.MeanMS, t.MostMS, ends(t.Ends))
	}
	b.WriteString("\n")
	for i, t := range d.Bots {
		fmt.Fprintf(&b, "%s is %s", letter(i), t.Name)
		if t.Gain != nil && len(t.gains) > 0 {
			fmt.Fprintf(&b, ": %s a seed over A", t.Gain.format("%+.1f"))
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ends lists how many games ended why.
func ends(counts map[string]int) string {
	var list []string
	for reason, n := range counts {
		list = append(list, fmt.Sprintf("%s %d", reason, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
