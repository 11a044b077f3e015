package tournament

import (
	"fmt"
	"strconv"
	"strings"

	"blockyard/agents/contest/cage"
	"blockyard/agents/match"
	"blockyard/datasets/program"
)

// A Report is how a tournament stands.
type Report struct {
	Game      string     `json:"game"`
	Format    Format     `json:"format"`
	Seed      uint64     `json:"seed,string"`
	Played    int        `json:"played"`
	Expected  int        `json:"expected"`
	Over      bool       `json:"over"`
	Isolate   string     `json:"isolate"`        // auto, require or off: whether the programs of others are contained
	Missing   []string   `json:"missing_walls"`  // what they are not kept from here
	Standings []Row      `json:"standings"`      // best first
	Refused   []*Entrant `json:"refused"`        // entrants that do not take part
	Void      []string   `json:"void,omitempty"` // games that do not count, and why
}

// A Row is a line of the table.
type Row struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	Standing
}

// Report returns how the tournament stands.
func (t *Tournament) Report() *Report {
	r := &Report{Game: t.Rules.Name, Format: t.Format, Seed: t.Seed, Played: len(t.Played), Expected: t.Expected,
		Over: t.Over, Isolate: string(t.Isolate), Missing: []string{}, Standings: []Row{}, Refused: []*Entrant{}}
	if t.Isolate != cage.Off {
		r.Missing = append(r.Missing, cage.Missing()...)
	}
	for _, s := range t.Standings() {
		e := t.Entrants[s.Entrant]
		r.Standings = append(r.Standings, Row{e.Name, e.Language, s})
	}
	for _, e := range t.Entrants {
		if e.Refused != "" {
			r.Refused = append(r.Refused, e)
		}
	}
	for _, g := range t.Played {
		if g.Void != "" {
			r.Void = append(r.Void, fmt.Sprintf("game %d: %s", g.Number+1, g.Void))
		}
	}
	return r
}

// String returns the table.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, seed %d: %d games", r.Game, r.Format, r.Seed, r.Played)
	if !r.Over {
		if r.Expected > 0 {
			fmt.Fprintf(&b, " of %d; run the same command again to go on", r.Expected)
		}
	}
	b.WriteString("\n")
	if len(r.Standings) > 0 {
		b.WriteString(r.table())
	}
	for _, s := range r.Standings {
		for _, text := range s.Odd {
			fmt.Fprintf(&b, "%s: %s\n", s.Name, program.Plain(text, mostReason))
		}
	}
	if len(r.Refused) > 0 {
		b.WriteString("\nnot taking part\n")
		for _, e := range r.Refused {
			fmt.Fprintf(&b, "  %s: %s\n", e.Name, e.Refused)
		}
	}
	if len(r.Void) > 0 {
		fmt.Fprintf(&b, "\ngames that do not count\n  %s\n", strings.Join(r.Void, "\n  "))
	}
	if said := r.Contained(); said != "" {
		fmt.Fprintf(&b, "\n%s\n", said)
	}
	return b.String()
}

// Contained says what the programs of others are not kept from, "" if all walls stand.
func (r *Report) Contained() string {
	switch {
	case r.Isolate == string(cage.Off):
		return "programs are not contained (--isolate off)"
	case len(r.Missing) > 0:
		return "walls missing here: " + strings.Join(r.Missing, "; ")
	}
	return ""
}

// table is the standings.
func (r *Report) table() string {
	var lines []match.Line
	for _, s := range r.Standings {
		after := []string{strconv.Itoa(s.Points), fmt.Sprintf("%.0f", s.MeanMS), strconv.Itoa(s.Faults)}
		lines = append(lines, match.Line{Before: []string{s.Name, s.Language}, Games: s.Games, Counts: s.Counts, Elo: s.Elo,
			After: after})
	}
	return "\n" + match.Table([]string{"name", "language"}, []string{"points", "ms per game", "faults"}, lines)
}
