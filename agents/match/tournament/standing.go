package tournament

import (
	"cmp"
	"slices"

	"blockyard/agents/contest"
	"blockyard/agents/match"
)

// A Standing is how an entrant did so far.
type Standing struct {
	Entrant      int            `json:"entrant"`
	Games        int            `json:"games"`
	match.Counts                // over single opponents: a game of four has three of them
	Score        float64        `json:"score"`  // wins and half the draws
	Points       int            `json:"points"` // of the contest, in all games
	Faults       int            `json:"faults"` // games in which it was ended or lost at once
	MeanMS       float64        `json:"mean_ms"`
	MostMS       int64          `json:"longest_ms"`
	Elo          match.Estimate `json:"elo"`           // relative to the mean of all entrants
	Odd          []string       `json:"odd,omitempty"` // about its output, each once
}

// results are the results of the games that count, between some entrants in their order.
func results(in []int, played []Played) *match.Results {
	r := match.NewResults(len(in))
	for _, g := range played {
		if g.Void == "" {
			r.AddRanks(places(in, g.Seats), g.Ranks)
		}
	}
	return r
}

// places are the places of some entrants in a list.
func places(in, entrants []int) (out []int) {
	for _, e := range entrants {
		out = append(out, slices.Index(in, e))
	}
	return out
}

// standings returns the standings of some entrants, in their order, without ratings.
func standings(in []int, played []Played) []Standing {
	table, all := make([]Standing, len(in)), results(in, played)
	for k, e := range in {
		table[k].Entrant, table[k].Counts = e, all.Of(k)
		table[k].Score = table[k].Counts.Points()
	}
	for _, g := range played {
		if g.Void != "" {
			continue
		}
		for seat, k := range places(in, g.Seats) {
			s := &table[k]
			s.Games++
			s.Points += g.Points[seat]
			s.MeanMS += float64(g.UsedMS[seat])
			s.MostMS = max(s.MostMS, g.MostMS[seat])
			if g.fault(seat) != "" {
				s.Faults++
			}
			if seat < len(g.Odd) {
				s.Odd = contest.AddHabits(s.Odd, g.Odd[seat])
			}
		}
	}
	for k := range table {
		table[k].MeanMS /= float64(max(table[k].Games, 1))
	}
	return table
}

// better orders standings: by score, then by rating, then by points.
func better(a, b Standing) int {
	return cmp.Or(cmp.Compare(b.Share(), a.Share()), cmp.Compare(b.Elo.Value, a.Elo.Value),
		cmp.Compare(b.Points, a.Points))
}

// Standings returns the standings of all entrants that take part, best first. After final games, the places that
// these decide come first.
func (t *Tournament) Standings() []Standing {
	in := takingPart(t.Entrants)
	table := standings(in, t.Played)
	for k, elo := range results(in, t.Played).Elo() {
		table[k].Elo = elo
	}
	order := newPlan(&t.Config, in).decided(t.Played)
	slices.SortStableFunc(table, func(a, b Standing) int {
		i, j := slices.Index(order, a.Entrant), slices.Index(order, b.Entrant)
		if i >= 0 || j >= 0 {
			return cmp.Compare(uint(i), uint(j)) // -1 goes last
		}
		return better(a, b)
	})
	return table
}
