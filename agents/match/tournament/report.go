package tournament

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/contest/cage"
	"blockyard/agents/match"
)

// A Report is how a tournament stands: its players are the entrants that take part, the best first.
type Report struct {
	*match.Report
	Over    bool       `json:"over"`
	Isolate string     `json:"isolate"`       // auto, require or off: whether the programs of others are contained
	Missing []string   `json:"missing_walls"` // parts of the isolation that this machine lacks; see cage.Missing
	Refused []*Entrant `json:"refused"`       // entrants that do not take part
}

// Report returns how the tournament stands.
func (t *Tournament) Report() *Report {
	r := &Report{
		Report: t.standings(), Over: t.Over, Isolate: string(t.Isolate), Missing: []string{}, Refused: []*Entrant{},
	}
	if r.Expected = t.Expected; t.Format != Ladder {
		r.Settings = map[string]string{"format": string(t.Format)}
	}
	if t.Isolate != cage.Off {
		r.Missing = append(r.Missing, cage.Missing()...)
	}
	for _, e := range t.Entrants {
		if e.Refused != "" {
			r.Refused = append(r.Refused, e)
		}
	}
	return r
}

// String returns the table.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString(r.Report.String())
	if len(r.Refused) > 0 {
		b.WriteString("\nnot taking part\n")
		for _, e := range r.Refused {
			fmt.Fprintf(&b, "  %s: %s\n", e.Name, e.Refused)
		}
	}
	if said := r.Contained(); said != "" {
		fmt.Fprintf(&b, "\n%s\n", said)
	}
	return b.String()
}

// Contained says which parts of the isolation of programs are missing, "" if none is.
func (r *Report) Contained() string {
	switch {
	case r.Isolate == string(cage.Off):
		return "programs are not contained (--isolate off)"
	case len(r.Missing) > 0:
		return "walls missing here: " + strings.Join(r.Missing, "; ")
	}
	return ""
}

// table returns the standings of some entrants, in their order, without ratings.
func (c *Config) table(in []int, entrants []*Entrant, played []match.Played) *match.Report {
	var players []match.Standing
	for _, e := range in {
		p := match.Standing{Number: e}
		if entrants != nil {
			p.Name, p.Language = entrants[e].Name, entrants[e].Language
		}
		players = append(players, p)
	}
	r := match.NewReport(c.Rules, strconv.FormatUint(c.Seed, 10), players)
	r.Add(played)
	return r
}

// better orders standings: by score, then by rating, then by points.
func better(a, b match.Standing) int {
	return cmp.Or(cmp.Compare(b.Share(), a.Share()), cmp.Compare(b.Elo.Value, a.Elo.Value),
		cmp.Compare(total(b), total(a)))
}

// total is the points of an entrant in all its games.
func total(s match.Standing) int { return cmp.Or(s.Points, &match.Points{}).Total }

// standings returns the standings of all entrants that take part, best first. The places that final games decide
// come before all others.
func (t *Tournament) standings() *match.Report {
	in := takingPart(t.Entrants)
	r := t.table(in, t.Entrants, t.Played)
	r.Rate()
	order := newPlan(&t.Config, in).decided(t.Played)
	slices.SortStableFunc(r.Players, func(a, b match.Standing) int {
		i, j := slices.Index(order, a.Number), slices.Index(order, b.Number)
		if i >= 0 || j >= 0 {
			return cmp.Compare(uint(i), uint(j)) // -1 goes last
		}
		return better(a, b)
	})
	return r
}
