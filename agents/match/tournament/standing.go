package tournament

import (
	"cmp"
	"slices"

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
	Elo          match.Estimate `json:"elo"` // relative to the mean of all entrants
}

// halfPoints is what a rank earns against another: 2, 1 or 0.
func halfPoints(own, other int) int { return 1 + cmp.Compare(other, own) }

// standings returns the standings of some entrants, in their order.
func standings(in []int, played []Played) []Standing {
	table := make([]Standing, len(in))
	for k, e := range in {
		table[k].Entrant = e
	}
	for _, g := range played {
		for seat, e := range g.Seats {
			k := slices.Index(in, e)
			if k < 0 {
				continue
			}
			s := &table[k]
			s.Games++
			s.Points += g.Points[seat]
			s.MeanMS += float64(g.UsedMS[seat])
			s.MostMS = max(s.MostMS, g.MostMS[seat])
			if seat < len(g.Faults) && g.Faults[seat] != "" {
				s.Faults++
			}
			for other := range g.Seats {
				if other != seat {
					s.Count(halfPoints(g.Ranks[seat], g.Ranks[other]))
				}
			}
		}
	}
	for k := range table {
		s := &table[k]
		s.Score = s.Counts.Points()
		if s.Games > 0 {
			s.MeanMS /= float64(s.Games)
		}
	}
	return table
}

// better orders standings: by score, then by rating, then by points.
func better(a, b Standing) int {
	return cmp.Or(cmp.Compare(b.Share(), a.Share()), cmp.Compare(b.Elo.Value, a.Elo.Value),
		cmp.Compare(b.Points, a.Points))
}

// Standings returns the standings of all entrants that take part, best first. After a ladder or final games, the places
// that these decide come first.
func (t *Tournament) Standings() []Standing {
	in := takingPart(t.Entrants)
	p := newPlan(&t.Config, in)
	table := standings(in, t.Played)
	rate(table, t.Played)
	order := p.places(t.Played)
	slices.SortStableFunc(table, func(a, b Standing) int {
		i, j := slices.Index(order, a.Entrant), slices.Index(order, b.Entrant)
		if i >= 0 || j >= 0 {
			return cmp.Compare(uint(i), uint(j)) // -1 goes last
		}
		return better(a, b)
	})
	return table
}

// places returns the entrants whose places are decided by more than their score: all of a ladder, or the four of the
// final games.
func (p *plan) places(played []Played) []int {
	isFinal := func(g Played) bool { return slices.Contains([]string{"semi-final", "third place", "final"}, g.Stage) }
	at := slices.IndexFunc(played, isFinal)
	if at < 0 {
		at = len(played)
	}
	order := p.order(played[:at])
	if p.c.Format != Ladder && at == len(played) {
		return nil
	}
	if at < len(played) {
		best := order[:4]
		first, second := p.winner(played[at:], best[0], best[3]), p.winner(played[at:], best[1], best[2])
		third := slices.DeleteFunc(slices.Clone(best), func(e int) bool { return e == first || e == second })
		last := slices.IndexFunc(played, func(g Played) bool { return g.Stage == "third place" })
		if last >= 0 {
			if p.winner(played[last:], first, second) == second {
				first, second = second, first
			}
			if p.winner(played[last:], third[0], third[1]) == third[1] {
				third[0], third[1] = third[1], third[0]
			}
		}
		order = append([]int{first, second, third[0], third[1]}, order[4:]...)
	}
	if p.c.Format != Ladder {
		order = order[:min(4, len(order))]
	}
	return order
}

// rate sets the ratings.
func rate(table []Standing, played []Played) {
	index := map[int]int{}
	for k, s := range table {
		index[s.Entrant] = k
	}
	results := match.NewResults(len(table))
	for _, g := range played {
		for i, a := range g.Seats {
			for j, b := range g.Seats[:i] {
				results.Add(index[a], index[b], halfPoints(g.Ranks[i], g.Ranks[j]))
			}
		}
	}
	for k, elo := range results.Elo() {
		table[k].Elo = elo
	}
}
