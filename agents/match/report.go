package match

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"blockyard/env"
)

// A Report is the result of games between players: what every command that plays many games prints, as JSON or, by
// String, as text. agents/JSON.md describes the fields. Add counts games; Rate estimates the ratings.
type Report struct {
	Game     string            `json:"game"`
	Seed     string            `json:"seed"`
	Seats    int               `json:"seats"`              // of a game, at most
	Settings map[string]string `json:"settings,omitempty"` // flags that limit the games, and a tournament's format
	Units    int               `json:"units"`              // samples: pairs, sets or seeds
	Games    int               `json:"games"`
	Expected int               `json:"expected,omitempty"` // games of a ladder or tournament that can go on
	Distinct int               `json:"distinct,omitempty"` // games that do not repeat another one move for move
	Stopped  bool              `json:"stopped,omitempty"`  // the command was interrupted
	Players  []Standing        `json:"players"`
	Meetings []Meeting         `json:"meetings"` // of every two players that have met
	Winner   string            `json:"winner,omitempty"`
	Played   []Played          `json:"played,omitempty"`
	Void     []string          `json:"void,omitempty"`     // games that do not count, and why
	Again    int               `json:"again,omitempty"`    // attempts at games that do not count: the machine was too busy
	Busy     int               `json:"busy,omitempty"`     // games in which programs waited for a fifth of their time
	Repeated int               `json:"repeated,omitempty"` // games that repeat an earlier one, and do not count

	index   map[int]int // place in Players by number
	samples map[[2]int]*meetingSamples
	all     *Results
	test    *SPRT
}

// A Meeting is how two players did against each other, from the view of A. Units are the samples of its intervals.
type Meeting struct {
	A string `json:"a"`
	B string `json:"b"`
	Counts
	Score Estimate `json:"score"`           // wins and half the draws, as a fraction
	Elo   Estimate `json:"elo"`             // finite: see EloWithin
	Pairs *Pairs   `json:"pairs,omitempty"` // games of two with the same seed and the seats swapped
	Alike int      `json:"alike,omitempty"` // pairs whose two games are the same, choice for choice of every seat
	// Normalised is the lead in standard deviations of a game's score, in the unit of Elo: see Pairs.Normalised.
	Normalised *Estimate `json:"normalised,omitempty"`
	// In games of one seat: the points of A less those of B with the same seed, and how much later A reached a score.
	Difference *Estimate `json:"difference,omitempty"`
	Later      *Estimate `json:"later,omitempty"`
	LLR        *float64  `json:"llr,omitempty"` // of the SPRT
	Verdict    Verdict   `json:"sprt,omitempty"`
}

// A sample is values by unit.
type sample struct {
	unit  int
	units []struct{ n, total float64 }
}

func (s *sample) add(unit int, v float64) {
	if len(s.units) == 0 || s.unit != unit {
		s.unit, s.units = unit, append(s.units, struct{ n, total float64 }{})
	}
	u := &s.units[len(s.units)-1]
	u.n++
	u.total += v
}

// means returns the means of the units, and the mean of all values.
func (s *sample) means() (means []float64, all float64) {
	n := 0.0
	for _, u := range s.units {
		means, n, all = append(means, u.total/u.n), n+u.n, all+u.total
	}
	return means, all / max(n, 1)
}

// meetingSamples are the samples from which the estimates of a Meeting are computed.
type meetingSamples struct {
	shares, difference sample // shares are the points of games that the first has won: 0, 0.5 or 1
	later              []float64
	alike              int
	tables             bool // some games are of more than two
}

// NewReport returns the report of no games between players, of which Name, Number and Language are set.
func NewReport(g *env.Game, seed string, players []Standing) *Report {
	r := &Report{Game: g.Name, Seed: seed, Players: players, Meetings: []Meeting{}, index: map[int]int{},
		samples: map[[2]int]*meetingSamples{}, all: NewResults(len(players))}
	for k := range players {
		p := &players[k]
		p.Ends, p.Faults = map[string]int{}, map[string]int{}
		r.index[p.Number] = k
	}
	if len(players) == 2 { // their meeting is there also without a game
		r.samples[[2]int{0, 1}] = &meetingSamples{}
	}
	return r
}

// ReportOf returns the report of games between players with these names, in their order, with ratings.
func ReportOf(g *env.Game, seed string, names []string, played []Played) *Report {
	var players []Standing
	for k, name := range names {
		players = append(players, Standing{Name: name, Number: k})
	}
	r := NewReport(g, seed, players)
	r.Add(played)
	r.Rate()
	return r
}

// Limit notes the limits that are not 0.
func (r *Report) Limit(limits map[string]int) {
	r.Settings = map[string]string{}
	for name, n := range limits {
		if n != 0 {
			r.Settings[name] = strconv.Itoa(n)
		}
	}
}

// Between returns the results of a player against another one, by their numbers.
func (r *Report) Between(a, b int) Counts { return r.all.Meeting(r.index[a], r.index[b]) }

// Results returns the results of every two players, by their places when the report was made.
func (r *Report) Results() *Results { return r.all }

// Add counts games. It may be called once.
func (r *Report) Add(played []Played) {
	for i := range played {
		g := &played[i]
		r.Again += g.Stalled
		if g.busy() && g.Repeats == 0 {
			r.Busy++
		}
		if g.Void != "" {
			r.Void = append(r.Void, fmt.Sprintf("game %d: %s", g.Number+1, g.Void))
			continue
		}
		if g.Repeats > 0 {
			r.Repeated++
		} else {
			r.Games++
			r.Seats = max(r.Seats, len(g.Seats))
		}
		for seat, player := range g.Seats {
			r.Players[r.index[player]].add(g, seat)
		}
	}
	unit := -1
	for _, g := range compared(played) {
		if r.Units == 0 || g.Unit != unit {
			unit = g.Unit
			r.Units++
		}
		r.compare(g)
	}
	for k := range r.Players {
		p := &r.Players[k]
		p.Counts = r.all.Of(k)
		p.Score = p.Share()
		p.finish(r.Seats, len(r.Players))
	}
	for a := range r.Players {
		for b := a + 1; b < len(r.Players); b++ {
			if m := r.samples[[2]int{a, b}]; m != nil {
				r.Meetings = append(r.Meetings, r.meeting(a, b, m))
			}
		}
	}
}

// busy reports whether the machine kept the programs of a game waiting for a fifth of their time or more.
func (p *Played) busy() bool {
	var sum Times
	for _, t := range p.Times {
		sum.add(t, 1)
	}
	return sum.Waiting() > 0 && 5*sum.Waiting() >= sum.WallMS+sum.HostMS
}

// Overload says how busy the machine was, "" if it was not.
func (r *Report) Overload() (text string) {
	if r.Busy > 0 {
		text = fmt.Sprintf("the machine was overloaded in %d of %d games: programs waited for a processor", r.Busy, r.Games)
	}
	if r.Again > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s; %d attempts at games do not count", text, r.Again), "; ")
	}
	return text
}

func (r *Report) compare(g *Played) {
	for i, number := range g.Seats {
		a := r.index[number]
		p := &r.Players[a]
		p.ranks.add(g.Unit, float64(g.Ranks[i]))
		if g.Ranks[i] == 1 {
			p.First++
		}
		for j, other := range g.Seats {
			b := r.index[other]
			if a >= b {
				continue
			}
			half := 1 + cmp.Compare(g.Ranks[j], g.Ranks[i])
			r.all.Add(a, b, half)
			m := r.samples[[2]int{a, b}]
			if m == nil {
				m = &meetingSamples{}
				r.samples[[2]int{a, b}] = m
			}
			m.shares.add(g.Unit, float64(half)/2)
			if g.Alike {
				m.alike++
			}
			m.tables = m.tables || len(g.Seats) > 2
			if r.Seats > 1 {
				continue
			}
			m.difference.add(g.Unit, float64(g.Points[i]-g.Points[j]))
			if len(g.After) == len(g.Seats) && g.After[i] > 0 && g.After[j] > 0 {
				m.later = append(m.later, g.After[i]-g.After[j])
			}
		}
	}
}

func known(values []float64) *Estimate {
	if len(values) == 0 {
		return nil
	}
	return new(MeanOf(values))
}

// meeting returns the results of the player in place a against that in place b.
func (r *Report) meeting(a, b int, m *meetingSamples) Meeting {
	out := Meeting{A: r.Players[a].Name, B: r.Players[b].Name, Counts: r.all.Meeting(a, b), Score: Estimate{0.5, 0, 1}}
	if shares, _ := m.shares.means(); len(shares) > 0 {
		out.Score = meanWithin(shares, nil, 0, 1)
		out.Score.Value = out.Share()
	}
	if !m.tables && r.Seats != 1 {
		var pairs Pairs
		for _, u := range m.shares.units {
			if u.n == 2 { // a last game alone is left out
				pairs[int(2*u.total)]++
			}
		}
		if pairs.N() > 0 || out.Total() == 0 {
			out.Pairs = &pairs
			out.Score.Low, out.Score.High = pairs.Interval()
			out.Alike, out.Normalised = m.alike, pairs.Normalised()
		}
	}
	differences, _ := m.difference.means()
	out.Difference, out.Later = known(differences), known(m.later)
	n := out.Total()
	out.Elo = Estimate{EloWithin(out.Score.Value, n), EloWithin(out.Score.Low, n), EloWithin(out.Score.High, n)}
	return out
}

// Decide adds the state of a test to the report of two players.
func (r *Report) Decide(t *SPRT) {
	m := &r.Meetings[0]
	m.Pairs, r.test = cmp.Or(m.Pairs, new(Pairs)), t
	m.LLR, m.Verdict = new(t.LLR(*m.Pairs)), t.Verdict(*m.Pairs)
}

// Rate estimates the Elo of all players from the games added so far, and writes it to Players.
func (r *Report) Rate() {
	for k, elo := range r.all.Elo() {
		r.Players[k].Elo = elo
	}
}
