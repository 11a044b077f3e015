package tournament

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"blockyard/env"
)

// A Format says who meets whom.
type Format string

// The formats.
const (
	RoundRobin Format = "round-robin" // everyone meets everyone
	Swiss      Format = "swiss"       // in every round, entrants with about equal scores meet
	Ladder     Format = "ladder"      // from the bottom up, everyone meets the entrant above and takes its place by a win
)

// Formats are all of them.
var Formats = []Format{RoundRobin, Swiss, Ladder}

// A plan says which games come next. It has no memory: what comes next follows from the games played so far.
type plan struct {
	c  *Config
	in []int // the entrants that take part, in the order of their names
}

func newPlan(c *Config, in []int) *plan { return &plan{c, in} }

// A meeting is some entrants that play c.Games or c.Finals games with each other.
type meeting struct {
	stage string
	who   []int
	games int
}

// next returns the games that follow the played ones up to the next point at which the plan depends on results; none
// if the tournament is over.
func (p *plan) next(played []Played) []Game {
	at := 0
	for _, stage := range p.stages() {
		games := p.games(at, stage(played[:min(at, len(played))]))
		if at += len(games); at > len(played) {
			return games[len(games)-(at-len(played)):]
		}
	}
	return nil
}

// expected returns how many games the tournament has.
func (p *plan) expected(played []Played) (n int) {
	for _, stage := range p.stages() {
		n += len(p.games(n, stage(played[:min(n, len(played))])))
	}
	return n
}

// games lists the games of some meetings, of which the first has the number first.
func (p *plan) games(first int, meetings []meeting) (out []Game) {
	for _, m := range meetings {
		for k := range m.games {
			n := first + len(out)
			g := Game{Number: n, Stage: m.stage, Seed: env.Derive(p.c.Seed, uint64(n))}
			for seat := range m.who {
				g.Seats = append(g.Seats, m.who[(seat+k)%len(m.who)])
			}
			out = append(out, g)
		}
	}
	return out
}

// stages are the parts of the tournament. Each lists its meetings, given the games of those before it.
func (p *plan) stages() (all []func(played []Played) []meeting) {
	if p.c.Format == RoundRobin && p.c.Seats == 2 {
		all = append(all, func([]Played) []meeting { return p.everyone() })
	} else {
		for k := range p.rounds() {
			all = append(all, p.round(k)...)
		}
	}
	if p.c.Finals > 0 && len(p.in) >= 4 && p.c.Seats == 2 {
		at := 0 // the first final game
		all = append(all,
			func(played []Played) []meeting {
				at = len(played)
				best := p.order(played[:at])
				return []meeting{
					{"semi-final", []int{best[0], best[3]}, p.c.Finals}, {"semi-final", []int{best[1], best[2]}, p.c.Finals},
				}
			},
			func(played []Played) []meeting {
				from := min(at, len(played))
				best := p.order(played[:from])
				a := p.winner(played[from:], best[0], best[3])
				b := p.winner(played[from:], best[1], best[2])
				third := slices.DeleteFunc(slices.Clone(best[:4]), func(e int) bool { return e == a || e == b })
				return []meeting{{"third place", third, p.c.Finals}, {"final", []int{a, b}, p.c.Finals}}
			})
	}
	return all
}

// rounds is the number of rounds: as given, or enough for a clear order.
func (p *plan) rounds() int {
	switch n := len(p.in); {
	case p.c.Rounds > 0:
		return p.c.Rounds
	case p.c.Format == Ladder:
		return 2
	case p.c.Format == RoundRobin: // of tables with more than two seats
		return n
	default:
		k := 2
		for 1<<(k-2) < n {
			k++
		}
		return k
	}
}

// round returns the stages of round k, which is one except for a ladder.
func (p *plan) round(k int) (stages []func([]Played) []meeting) {
	name := fmt.Sprintf("round %d", k+1)
	switch p.c.Format {
	case Ladder:
		for step := len(p.in) - 1; step > 0; step-- {
			stages = append(stages, func(played []Played) []meeting {
				order := p.ladder(played)
				return []meeting{{name, []int{order[step], order[step-1]}, p.c.Games}}
			})
		}
	case Swiss:
		stages = append(stages, func(played []Played) []meeting { return p.tables(name, p.swiss(k, played)) })
	default:
		stages = append(stages, func([]Played) []meeting { return p.tables(name, p.shuffled(k)) })
	}
	return stages
}

// everyone lets all pairs meet.
func (p *plan) everyone() (all []meeting) {
	for i, a := range p.in {
		for _, b := range p.in[:i] {
			all = append(all, meeting{"round robin", []int{b, a}, p.c.Games})
		}
	}
	return all
}

// shuffled is the entrants in an order of its own for every round.
func (p *plan) shuffled(k int) []int {
	order := slices.Clone(p.in)
	rng := rand.New(rand.NewPCG(p.c.Seed, uint64(k)))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// tables seats the entrants at tables in the given order. Those for whom no table is left sit out.
func (p *plan) tables(name string, order []int) (all []meeting) {
	for len(order) >= p.c.Seats {
		all = append(all, meeting{name, order[:p.c.Seats], p.c.Games})
		order = order[p.c.Seats:]
	}
	return all
}

// swiss is the order in which neighbours meet in round k: by score, but at tables of two not the same two again if
// that can be avoided. Whoever sat out least often goes last if the entrants do not fill the tables.
func (p *plan) swiss(k int, played []Played) []int {
	order := p.shuffled(k)
	table := standings(p.in, played)
	score := func(e int) float64 { return table[slices.Index(p.in, e)].Score }
	slices.SortStableFunc(order, func(a, b int) int {
		switch d := score(b) - score(a); {
		case d > 0:
			return 1
		case d < 0:
			return -1
		}
		return 0
	})
	if idle := len(order) % p.c.Seats; idle > 0 {
		count := func(e int) (n int) {
			for _, g := range played {
				if slices.Contains(g.Seats, e) {
					n++
				}
			}
			return n
		}
		for range idle { // of those who played most, the lowest sits out
			at := len(order) - 1
			for i := at - 1; i >= 0; i-- {
				if count(order[i]) > count(order[at]) {
					at = i
				}
			}
			out := order[at]
			order = append(slices.Delete(order, at, at+1), out)
		}
	}
	if p.c.Seats != 2 {
		return order
	}
	met := func(a, b int) bool {
		return slices.ContainsFunc(played, func(g Played) bool {
			return slices.Contains(g.Seats, a) && slices.Contains(g.Seats, b)
		})
	}
	idle := order[len(order)&^1:]
	tries := maxTries
	if paired, ok := pairUp(order[:len(order)&^1], met, &tries); ok {
		return append(paired, idle...)
	}
	return order
}

// maxTries bounds the search for a round without a repeated meeting.
const maxTries = 100_000

// pairUp orders entrants so that neighbours have not met: the first one with the next that suits, and the others
// likewise. It reports false if there is no such order, or none is found within some tries.
func pairUp(order []int, met func(a, b int) bool, tries *int) ([]int, bool) {
	if len(order) == 0 {
		return nil, true
	}
	for j := 1; j < len(order); j++ {
		if *tries--; *tries < 0 {
			return nil, false
		}
		if met(order[0], order[j]) {
			continue
		}
		rest := slices.Concat(order[1:j], order[j+1:])
		if paired, ok := pairUp(rest, met, tries); ok {
			return slices.Concat([]int{order[0], order[j]}, paired), true
		}
	}
	return nil, false
}

// ladder is the order of the ladder: it begins in the order of the entrants, and the winner of a meeting takes the
// upper of the two places.
func (p *plan) ladder(played []Played) []int {
	order := slices.Clone(p.in)
	for from := 0; from < len(played); from += p.c.Games {
		games := played[from:min(from+p.c.Games, len(played))]
		lower, upper := games[0].Seats[0], games[0].Seats[1]
		if p.winner(games, upper, lower) == lower {
			i, j := slices.Index(order, upper), slices.Index(order, lower)
			order[i], order[j] = lower, upper
		}
	}
	return order
}

// winner returns who of two won more in some games; a if both won the same.
func (p *plan) winner(played []Played, a, b int) int {
	lead := 0
	for _, g := range played {
		i, j := slices.Index(g.Seats, a), slices.Index(g.Seats, b)
		if i >= 0 && j >= 0 {
			lead += halfPoints(g.Ranks[i], g.Ranks[j]) - 1
		}
	}
	if lead < 0 {
		return b
	}
	return a
}

// order lists the entrants from first to last.
func (p *plan) order(played []Played) []int {
	if p.c.Format == Ladder {
		return p.ladder(played)
	}
	table := standings(p.in, played)
	slices.SortStableFunc(table, better)
	var order []int
	for _, s := range table {
		order = append(order, s.Entrant)
	}
	return order
}
