package match

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"gonum.org/v1/gonum/mat"

	"blockyard/agents/contest"
)

// A Standing is how a player did against all others of its games; with one seat, against those of the same seed.
type Standing struct {
	Name     string         `json:"name"`
	Number   int            `json:"number"` // on the command line, from 0
	Language string         `json:"language,omitempty"`
	Left     string         `json:"left,omitempty"` // of a league, if it plays no more: left, rejected or undecided
	Games    int            `json:"games"`
	Counts                  // over single opponents: a game of four has three of them
	Score    float64        `json:"score"` // wins and half the draws, as a fraction
	Elo      Estimate       `json:"elo"`   // relative to the mean of all players
	First    int            `json:"first"` // games in which nobody had a better rank
	Rank     Estimate       `json:"mean_rank"`
	Points   *Points        `json:"points,omitempty"`
	Turns    int            `json:"turns,omitempty"`   // of all games
	Ends     map[string]int `json:"ends,omitempty"`    // games, by the reason for their end
	Faults   map[string]int `json:"faults,omitempty"`  // games, by what it was ended for or lost by
	Reached  *Estimate      `json:"reached,omitempty"` // seconds until the score that ends a game
	Program  *Answers       `json:"program,omitempty"`

	ranks, points sample
	scores        []int
	after         []float64
	answered      int // games that Program is of
}

// Points are the points of the contest in all games of a player. A game that was stopped counts with its score so far.
type Points struct {
	Mean   Estimate `json:"mean"`
	Median float64  `json:"median"`
	Worst  int      `json:"worst"`
	Best   int      `json:"best"`
	Total  int      `json:"total"`
	// PerEnd, in games of one seat, is Total over the games that ended. It assumes that a game is equally likely to end at
	// any point (a Poisson process). Without an end, Value is a lower bound at 95 % and High is 0, which means none.
	PerEnd *Estimate `json:"per_end,omitempty"`
}

// Answers say how a program answered: how often, how fast, and what was wrong.
type Answers struct {
	Answers  int      `json:"answers"`
	Timeouts int      `json:"timeouts"`
	Remarks  int      `json:"remarks"`          // about its answers
	Ended    int      `json:"ended_early"`      // games in which its process ended
	LeftS    *float64 `json:"left_s,omitempty"` // seconds left of all its games, if a game has one time for all answers
	UsedMS   float64  `json:"mean_ms"`          // of a game
	AnswerMS float64  `json:"answer_ms"`        // of an answer; 0 if their number is not known
	MostMS   float64  `json:"longest_ms"`       // of an answer
	Times    *Times   `json:"times,omitempty"`  // of a game; nil if they are not known
	Odd      []string `json:"odd,omitempty"`    // about its output, each once, with an answer that had a remark
}

func (s *Standing) answers() *Answers { return cmp.Or(s.Program, &Answers{}) }

// add counts a game in which the player had a seat. Of one that repeats another, only what its program did counts.
func (s *Standing) add(g *Played, seat int) {
	if s.timed(g, seat); g.Repeats > 0 {
		return
	}
	if slices.Index(g.Seats, g.Seats[seat]) == seat { // once, also with several seats
		s.Games++
		s.Turns += g.Rounds
		if g.Reason != "" {
			s.Ends[g.Reason]++
		}
	}
	if g.Points != nil {
		s.points.add(g.Unit, float64(g.Points[seat]))
		s.scores = append(s.scores, g.Points[seat])
	}
	switch fault := g.Fault(seat); {
	case fault != "":
		s.Faults[fault]++
	case g.Faults == nil && g.Ranks[seat] > 1 && g.Reason != "":
		s.Faults[g.Reason]++
	}
	if seat < len(g.After) && g.After[seat] > 0 {
		s.after = append(s.after, g.After[seat])
	}
}

// timed counts what the player's program did in a game.
func (s *Standing) timed(g *Played, seat int) {
	if seat >= len(g.UsedMS) {
		return
	}
	s.answered++
	s.Program = s.answers()
	p := s.Program
	p.UsedMS += g.UsedMS[seat]
	p.MostMS = max(p.MostMS, g.MostMS[seat])
	if seat < len(g.Times) {
		p.Times = cmp.Or(p.Times, &Times{})
		p.Times.add(g.Times[seat], 1)
	}
	if seat < len(g.Odd) {
		p.Odd = contest.AddHabits(p.Odd, g.Odd[seat])
	}
	if seat < len(g.Tallies) {
		p.add(&g.Tallies[seat])
	}
}

func (p *Answers) add(t *contest.Tally) {
	p.Answers += t.Answers
	p.Timeouts += t.Timeouts
	p.Remarks += t.Remarks
	if t.Gone {
		p.Ended++
	}
	if t.Limits.OneBudget() {
		p.LeftS = cmp.Or(p.LeftS, new(0.))
		*p.LeftS += t.Left.Seconds()
	}
}

// finish makes estimates of the sums of games of this many seats. In games of one seat all players are ranked.
func (s *Standing) finish(seats, players int) {
	lowest := seats
	if seats == 1 {
		lowest = players
	}
	if means, all := s.ranks.means(); len(means) > 0 {
		s.Rank = meanWithin(means, nil, 1, float64(lowest))
		s.Rank.Value = all
	}
	s.Reached = known(s.after)
	if p := s.Program; p != nil {
		if p.Answers > 0 {
			p.AnswerMS = p.UsedMS / float64(p.Answers)
		}
		p.UsedMS /= float64(s.answered)
		if p.Times != nil {
			var mean Times
			mean.add(*p.Times, 1/float64(s.answered))
			p.Times = &mean
		}
	}
	if len(s.scores) == 0 {
		return
	}
	means, all := s.points.means()
	p := &Points{Mean: MeanOf(means)}
	p.Mean.Value = all
	slices.Sort(s.scores)
	n := len(s.scores)
	p.Worst, p.Best = s.scores[0], s.scores[n-1]
	p.Median = float64(s.scores[(n-1)/2]+s.scores[n/2]) / 2
	for _, v := range s.scores {
		p.Total += v
	}
	if seats == 1 {
		p.PerEnd = new(perEvent(p.Total, n-s.Ends[Limit]))
	}
	s.Points = p
}

// AllPoints are the points of all games together, 0 if they are not known.
func (s Standing) AllPoints() int { return cmp.Or(s.Points, &Points{}).Total }

// Better orders standings, the best first: by score, then by rating, then by points. Who has not played comes last.
func Better(a, b Standing) int {
	return cmp.Or(cmp.Compare(min(b.Games, 1), min(a.Games, 1)), cmp.Compare(b.Share(), a.Share()),
		cmp.Compare(b.Elo.Value, a.Elo.Value),
		cmp.Compare(b.AllPoints(), a.AllPoints()))
}

// scale turns Elo into the exponent of the logistic function.
const scale = math.Ln10 / 400

// Counts are the results of games, or of meetings, from one side.
type Counts struct {
	Wins   int `json:"wins"`
	Draws  int `json:"draws"`
	Losses int `json:"losses"`
}

// Count adds a game that won 2, 1 or 0 half points.
func (c *Counts) Count(halves int) { *[...]*int{&c.Losses, &c.Draws, &c.Wins}[halves]++ }

// Total returns the number of games with a result.
func (c Counts) Total() int { return c.Wins + c.Draws + c.Losses }

// Points are the wins and half the draws.
func (c Counts) Points() float64 { return float64(c.Wins) + float64(c.Draws)/2 }

// Share is Points as a fraction of the games; 0 without a game.
func (c Counts) Share() float64 { return c.Points() / float64(max(c.Total(), 1)) }

// Results are the results of games between n players, numbered from 0.
type Results struct {
	n       int
	results []Counts // of every two players, n x n, from the view of the first
}

// NewResults returns a table of the results between n players, all 0.
func NewResults(n int) *Results { return &Results{n, make([]Counts, n*n)} }

// Add adds a game of player a against another one, b, in which a won 2, 1 or 0 half points.
func (r *Results) Add(a, b, half int) {
	r.results[a*r.n+b].Count(half)
	r.results[b*r.n+a].Count(2 - half)
}

// Count adds the results of player a against another one, b.
func (r *Results) Count(a, b int, c Counts) {
	for _, side := range [][2]int{{a, b}, {b, a}} {
		sum := &r.results[side[0]*r.n+side[1]]
		*sum = Counts{sum.Wins + c.Wins, sum.Draws + c.Draws, sum.Losses + c.Losses}
		c.Wins, c.Losses = c.Losses, c.Wins
	}
}

// Meeting returns the results of a player against another one.
func (r *Results) Meeting(a, b int) Counts { return r.results[a*r.n+b] }

// Of returns the results of a player against all others.
func (r *Results) Of(a int) (sum Counts) {
	for _, c := range r.results[a*r.n : (a+1)*r.n] {
		sum = Counts{sum.Wins + c.Wins, sum.Draws + c.Draws, sum.Losses + c.Losses}
	}
	return sum
}

// Elo estimates the ratings that make the results most likely, relative to their mean, with 95 % intervals. If no
// finite ratings do, as for who won everything, every two players count as if they had drawn once more, shared among
// all. The intervals take games as independent; games in pairs with the seats swapped vary less.
func (r *Results) Elo() []Estimate {
	elo, _ := r.Rate()
	return elo
}

// Rate returns the Elo, and the variances and covariances of these ratings.
func (r *Results) Rate() ([]Estimate, *mat.SymDense) {
	if r.n == 0 {
		return nil, nil
	}
	games, score := mat.NewDense(r.n, r.n, nil), make([]float64, r.n)
	prior := 0.
	if !r.connected() {
		prior = 1 / float64(max(r.n-1, 1))
	}
	for i := range r.n {
		score[i] = r.Of(i).Points()
		for j := range r.n {
			if i != j {
				games.Set(i, j, float64(r.Meeting(i, j).Total())+prior)
				score[i] += prior / 2
			}
		}
	}
	elo := make([]float64, r.n)
	for range 5000 {
		if improve(elo, games, score) < 1e-6 {
			break
		}
	}
	for i, v := range elo {
		elo[i] = math.Round(1e3*v)/1e3 + 0 // what the last steps left over decides no tie; + 0 makes -0 a 0
	}
	out, covariance := make([]Estimate, r.n), covariances(elo, games)
	for i := range out {
		half := 1.96 * math.Sqrt(max(covariance.At(i, i), 0))
		out[i] = Estimate{Value: elo[i], Low: elo[i] - half, High: elo[i] + half}
	}
	return out, covariance
}

// connected is whether every player has scored against every other one, directly or by way of those it has scored
// against: then, and only then, the likelihood is greatest at finite ratings.
func (r *Results) connected() bool {
	scored := simple.NewDirectedGraph()
	for a := range r.n {
		scored.AddNode(simple.Node(a))
	}
	for k, c := range r.results {
		if c.Points() > 0 {
			scored.SetEdge(simple.Edge{F: simple.Node(k / r.n), T: simple.Node(k % r.n)})
		}
	}
	return len(topo.TarjanSCC(scored)) == 1
}

// improve takes a Newton step for every player in turn, moves the mean to 0 and returns the largest step.
func improve(elo []float64, games *mat.Dense, score []float64) float64 {
	change := 0.0
	for i := range elo {
		gap, slope := score[i], 0.0
		for j := range elo {
			if n := games.At(i, j); i != j && n > 0 {
				d := elo[i] - elo[j]
				gap -= n * Expected(d)
				slope += n * Information(d) / scale
			}
		}
		if slope > 0 {
			step := max(-200, min(200, gap/slope))
			elo[i] += step
			change = max(change, math.Abs(step))
		}
	}
	mean := 0.0
	for _, v := range elo {
		mean += v / float64(len(elo))
	}
	for i := range elo {
		elo[i] -= mean
	}
	return change
}

// covariances returns those of the ratings, from the curvature of the likelihood. Ratings are only determined up to a
// constant: adding the same number to every entry of the matrix fixes their mean.
func covariances(elo []float64, games *mat.Dense) *mat.SymDense {
	n := len(elo)
	h := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if i == j {
				continue
			}
			w := games.At(i, j) * Information(elo[i]-elo[j])
			h.Set(i, i, h.At(i, i)+w)
			h.Set(i, j, h.At(i, j)-w)
		}
	}
	unit := mat.Trace(h) / float64(n*n)
	for i := range n {
		for j := range n {
			h.Set(i, j, h.At(i, j)+unit)
		}
	}
	out := mat.NewSymDense(n, nil)
	var inverse mat.Dense
	if inverse.Inverse(h) != nil {
		return out // of no games
	}
	for i := range n {
		for j := range i + 1 {
			out.SetSym(i, j, inverse.At(i, j)-1/(unit*float64(n*n)))
		}
	}
	return out
}
