package tournament

import (
	"cmp"
	"slices"
	"strconv"

	"blockyard/agents/match"
)

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
		cmp.Compare(total(&b), total(&a)))
}

// total is the points of an entrant in all its games.
func total(s *match.Standing) int {
	if s.Points == nil {
		return 0
	}
	return s.Points.Total
}

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
