package tournament

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"blockyard/agents/match"
	"blockyard/env"
)

// A Format says which entrants meet.
type Format string

// The formats.
const (
	RoundRobin Format = "round-robin" // everyone meets everyone
	Swiss      Format = "swiss"       // in every round, entrants with about equal scores meet
	Ladder     Format = "ladder"      // in every round, everyone meets everyone or, with one seat, plays the same seed
	Ongoing    Format = "league"      // entrants come and go; those meet whose games tell most
)

// A policy is what a tournament and a ladder decide differently.
type policy interface {
	// stages are the parts of it. Each lists its meetings, given the games of those before it.
	stages(p *plan) []func(played []match.Played) []meeting
	// resume prepares to go on after so many games.
	resume(p *plan, games int)
	// verify returns an error unless p is the result of a game. A game that does not count is void afterwards.
	verify(p *match.Played, c *Config, entrants []*Entrant, dir string) error
}

func (c *Config) policy() policy {
	switch c.Format {
	case Ladder:
		return ladderPolicy{}
	case Ongoing:
		return leaguePolicy{}
	}
	return proofs{}
}

// A plan says which games come next. It has no memory: what comes next follows from the games played so far.
type plan struct {
	c  *Config
	in []int // the entrants that take part, in the order of their names
}

// A meeting is the games of some entrants with each other in one stage: c.Games of them, or c.Finals.
type meeting struct {
	stage string
	who   []int
	games int
	seed  string // of all its games, which are part of the same unit; "" for one of each game's own
	unit  int
}

// next returns the games up to the next point at which the plan depends on results; none at the end.
func (p *plan) next(played []match.Played) []match.Played {
	at := 0
	for _, stage := range p.c.policy().stages(p) {
		games := p.games(at, stage(played[:min(at, len(played))]))
		if at += len(games); at > len(played) {
			return games[len(games)-(at-len(played)):]
		}
	}
	return nil
}

func (p *plan) expected(played []match.Played) (n int) {
	for _, stage := range p.c.policy().stages(p) {
		n += len(p.games(n, stage(played[:min(n, len(played))])))
	}
	return n
}

// games lists the games of some meetings, numbered from first on.
func (p *plan) games(first int, meetings []meeting) (out []match.Played) {
	for _, m := range meetings {
		for k := range m.games {
			n := first + len(out)
			g := match.Played{Number: n, Unit: n, Stage: m.stage, Seed: strconv.FormatUint(env.Derive(p.c.Seed, uint64(n)), 10)}
			if m.seed != "" {
				g.Seed, g.Unit = m.seed, m.unit
			}
			for seat := range m.who {
				g.Seats = append(g.Seats, m.who[(seat+k)%len(m.who)])
			}
			out = append(out, g)
		}
	}
	return out
}

// proofs is the policy of a tournament between programs of strangers: a game counts if its record proves its result.
type proofs struct{}

func (proofs) resume(*plan, int) {}

func (proofs) stages(p *plan) (all []func(played []match.Played) []meeting) {
	if p.c.Format == RoundRobin && p.c.Seats == 2 {
		all = append(all, func([]match.Played) []meeting { return p.everyone() })
	} else {
		for k := range p.rounds() {
			all = append(all, func(played []match.Played) []meeting { return p.round(k, played) })
		}
	}
	if p.c.Finals > 0 && len(p.in) >= 4 && p.c.Seats == 2 {
		at := 0 // the first final game
		between := func(stage string, who ...int) meeting { return meeting{stage: stage, who: who, games: p.c.Finals} }
		all = append(all,
			func(played []match.Played) []meeting {
				at = len(played)
				best := p.order(played[:at])
				return []meeting{between("semi-final", best[0], best[3]), between("semi-final", best[1], best[2])}
			},
			func(played []match.Played) []meeting {
				winners, losers := p.semiFinals(played, min(at, len(played)))
				return []meeting{between("third place", losers...), between("final", winners...)}
			})
	}
	return all
}

// rounds is the number of rounds of a format with rounds: c.Rounds if that is not 0. Otherwise it is that of the
// entrants in a round robin of more than two seats, and about two more than their binary logarithm in Swiss.
func (p *plan) rounds() int {
	switch n := len(p.in); {
	case p.c.Rounds > 0:
		return p.c.Rounds
	case p.c.Format == RoundRobin:
		return n
	default:
		return 2 + bits.Len(uint(n-1))
	}
}

// round lists the meetings of round k, at tables in a random order. Those for whom no table is left sit out.
func (p *plan) round(k int, played []match.Played) (all []meeting) {
	order := slices.Clone(p.in)
	rng := rand.New(rand.NewPCG(p.c.Seed, uint64(k)))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if p.c.Format == Swiss {
		order = p.swiss(order, played)
	}
	for len(order) >= p.c.Seats {
		all = append(all, meeting{stage: fmt.Sprintf("round %d", k+1), who: order[:p.c.Seats], games: p.c.Games})
		order = order[p.c.Seats:]
	}
	return all
}

// everyone lists a meeting of every two entrants.
func (p *plan) everyone() (all []meeting) {
	for i, a := range p.in {
		for _, b := range p.in[:i] {
			all = append(all, meeting{stage: "round robin", who: []int{b, a}, games: p.c.Games})
		}
	}
	return all
}

// swiss sorts a random order into one in which neighbours meet: by score, but at tables of two not the same two again
// if that can be avoided. Whoever sat out least often goes last if the entrants do not fill the tables.
func (p *plan) swiss(order []int, played []match.Played) []int {
	table := p.c.table(p.in, nil, played).Players
	of := func(e int) *match.Standing { return &table[slices.Index(p.in, e)] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of(b).Counts.Points(), of(a).Counts.Points()) })
	for range len(order) % p.c.Seats { // of those who played most, the lowest sits out
		at := len(order) - 1
		for i := at - 1; i >= 0; i-- {
			if of(order[i]).Games > of(order[at]).Games {
				at = i
			}
		}
		out := order[at]
		order = append(slices.Delete(order, at, at+1), out)
	}
	if p.c.Seats != 2 {
		return order
	}
	met := func(a, b int) bool {
		return slices.ContainsFunc(played, func(g match.Played) bool {
			return slices.Contains(g.Seats, a) && slices.Contains(g.Seats, b)
		})
	}
	even, tries := len(order)&^1, 100_000 // bounds the search for a round without a repeated meeting
	if paired, ok := pairUp(order[:even], met, &tries); ok {
		return append(paired, order[even:]...)
	}
	return order
}

// pairUp orders entrants so that the two of each pair have not met: the first one with the next that suits, and the
// others likewise. It reports false if there is no such order, or none is found within some tries.
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

func (p *plan) winner(played []match.Played, a, b int) int {
	if c := p.c.table(p.in, nil, played).Between(a, b); c.Losses > c.Wins {
		return b
	}
	return a
}

// semiFinals returns who won and who lost the semi-finals, of which the first is game at.
func (p *plan) semiFinals(played []match.Played, at int) (winners, losers []int) {
	best := p.order(played[:at])[:4]
	winners = []int{p.winner(played[at:], best[0], best[3]), p.winner(played[at:], best[1], best[2])}
	return winners, slices.DeleteFunc(best, func(e int) bool { return slices.Contains(winners, e) })
}

// decided returns the four entrants whose places the final games decide; none before these.
func (p *plan) decided(played []match.Played) []int {
	at := slices.IndexFunc(played, final)
	if at < 0 {
		return nil
	}
	winners, losers := p.semiFinals(played, at)
	last := slices.IndexFunc(played, func(g match.Played) bool { return g.Stage == "third place" })
	for _, pair := range [][]int{winners, losers} {
		if last >= 0 && p.winner(played[last:], pair[0], pair[1]) == pair[1] {
			slices.Reverse(pair)
		}
	}
	return append(winners, losers...)
}

func (p *plan) order(played []match.Played) []int {
	table := p.c.table(p.in, nil, played).Players
	slices.SortStableFunc(table, match.Better)
	var order []int
	for _, s := range table {
		order = append(order, s.Number)
	}
	return order
}
