package tournament

import (
	"strconv"

	"blockyard/agents/match"
	"blockyard/env"
)

// A ladderPolicy is that of a round robin of the user's own agents, whose results count as they are, and which may go
// on with more rounds. All games of a round have the same seed; in games of one seat, everyone plays it.
type ladderPolicy struct{}

func (ladderPolicy) round(p *plan) (all []meeting) {
	if p.c.Seats > 1 {
		return p.everyone()
	}
	for _, a := range p.in {
		all = append(all, meeting{stage: "alone", who: []int{a}, games: 1})
	}
	return all
}

// stages is a single one, since no round waits for the one before.
func (l ladderPolicy) stages(p *plan) []func([]match.Played) []meeting {
	return []func([]match.Played) []meeting{func([]match.Played) (all []meeting) {
		for round := range max(1, p.c.Repeats) {
			seed := strconv.FormatUint(env.Derive(env.Derive(p.c.Seed, uint64(round)), 0), 10)
			for _, m := range l.round(p) {
				if m.seed, m.unit = seed, len(all); p.c.Seats == 1 {
					m.unit = round
				}
				all = append(all, m)
			}
		}
		return all
	}}
}

func (l ladderPolicy) resume(p *plan, games int) {
	round := max(1, len(p.games(0, l.round(p))))
	p.c.Repeats = max(p.c.Repeats, (games+round-1)/round)
}

func (ladderPolicy) verify(p *match.Played, _ *Config, _ []*Entrant, _ string) error {
	return complete(p, 0)
}
