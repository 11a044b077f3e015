package tournament

import (
	"fmt"
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
