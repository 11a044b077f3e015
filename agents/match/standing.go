package match

import (
	"cmp"
	"slices"

	"blockyard/agents/contest"
)

// A Standing is how a player did. It has met the other players of every game, and in games of one seat those that
// played the same seed.
type Standing struct {
	Name     string         `json:"name"`
	Number   int            `json:"number"` // on the command line, from 0
	Language string         `json:"language,omitempty"`
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

// Answers are how a program answered.
type Answers struct {
	Answers  int      `json:"answers"`
	Timeouts int      `json:"timeouts"`
	Remarks  int      `json:"remarks"`          // about its answers
	Ended    int      `json:"ended_early"`      // games in which its process ended
	LeftS    *float64 `json:"left_s,omitempty"` // seconds left of all its games, if a game has one time for all answers
	UsedMS   float64  `json:"mean_ms"`          // of a game
	AnswerMS float64  `json:"answer_ms"`        // of an answer; 0 if their number is not known
	MostMS   float64  `json:"longest_ms"`       // of an answer
	Odd      []string `json:"odd,omitempty"`    // about its output, each once, with an answer that had a remark
}

// answers are how the player answered; none if it is no program.
func (s *Standing) answers() *Answers { return cmp.Or(s.Program, &Answers{}) }

// add counts a game in which the player had a seat.
func (s *Standing) add(g *Played, seat int) {
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
	if seat >= len(g.UsedMS) {
		return
	}
	if s.Program == nil {
		s.Program = &Answers{}
	}
	p := s.Program
	p.UsedMS += g.UsedMS[seat]
	p.MostMS = max(p.MostMS, g.MostMS[seat])
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
		if p.LeftS == nil {
			p.LeftS = new(0.)
		}
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
		p.UsedMS /= float64(s.Games)
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
