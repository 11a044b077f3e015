package match

import (
	"cmp"
	"context"
	"fmt"

	"blockyard/agents/contest"
	"blockyard/datasets/record"
)

// A Standing is the result of games between two players from the view of the first, A.
type Standing struct {
	Game  string `json:"game"`
	A     string `json:"a"`
	B     string `json:"b"`
	Seed  uint64 `json:"seed,string"`
	Games int    `json:"games"`
	Counts
	Score float64 `json:"score"` // wins and half the draws, as a fraction
	Low   float64 `json:"low"`   // 95 % interval of the score
	High  float64 `json:"high"`
	Elo   float64 `json:"elo"` // finite: see EloWithin
}

// Counts are the results of games, or of meetings, from one side.
type Counts struct {
	Wins   int `json:"wins"`
	Draws  int `json:"draws"`
	Losses int `json:"losses"`
}

// Count adds a game that won 2, 1 or 0 half points.
func (c *Counts) Count(halves int) { *[...]*int{&c.Losses, &c.Draws, &c.Wins}[halves]++ }

// Total is the number of games.
func (c Counts) Total() int { return c.Wins + c.Draws + c.Losses }

// Points are the wins and half the draws.
func (c Counts) Points() float64 { return float64(c.Wins) + float64(c.Draws)/2 }

// Share is Points as a fraction of the games; 0 without a game.
func (c Counts) Share() float64 { return c.Points() / float64(max(c.Total(), 1)) }

// Estimate computes the score, its interval from the pairs, and Elo.
func (s *Standing) Estimate(p Pairs) {
	if s.Games, s.Score = s.Total(), s.Share(); s.Games == 0 {
		s.Score = 0.5
	}
	s.Low, s.High = p.Interval()
	s.Elo = EloWithin(s.Score, s.Games)
}

// A TwoPlayerResult is the standing after pairs of games. It marshals to JSON; String is a table for people.
type TwoPlayerResult struct {
	Standing
	EloLow  float64  `json:"elo_low"`
	EloHigh float64  `json:"elo_high"`
	Pairs   Pairs    `json:"pairs"`
	LLR     *float64 `json:"llr,omitempty"` // of the SPRT
	Verdict Verdict  `json:"sprt,omitempty"`
	Stopped bool     `json:"stopped,omitempty"` // the context ended

	test *SPRT
}

// TwoPlayer plays pairs of games between A and B: A has seat 0 in the first game of a pair and seat 1 in the second.
func (m Match) TwoPlayer(ctx context.Context) (TwoPlayerResult, error) {
	r := TwoPlayerResult{Standing: Standing{Game: m.Rules.Name, A: m.A.Name, B: m.B.Name, Seed: m.Seed}, test: m.SPRT}
	if err := m.check(2); err != nil {
		return r, err
	}
	if m.SPRT != nil {
		r.LLR, r.Verdict = new(float64), Undecided
	}
	var err error
	lineups := [][]Entrant{{{Stream: 0}, {B: true, Stream: 1}}, {{B: true, Stream: 3}, {Stream: 2}}}
	r.Stopped, err = m.play(ctx, lineups, func(pair []*record.Record) bool {
		r.add(pair)
		m.progress(r.Games, "score %.1f %%", 100*r.Score)
		return r.Verdict != AcceptH0 && r.Verdict != AcceptH1
	})
	r.Estimate(r.Pairs)
	r.EloLow, r.EloHigh = EloWithin(r.Low, r.Games), EloWithin(r.High, r.Games)
	return r, err
}

// add counts a pair: A has seat k in game k.
func (r *TwoPlayerResult) add(pair []*record.Record) {
	halves := 0
	for k, rec := range pair {
		won := 1 + cmp.Compare(rec.Results[k], rec.Results[1-k])
		halves += won
		r.Count(won)
		r.Games++
	}
	r.Pairs[halves]++
	r.Score = r.Pairs.Score()
	if r.test != nil {
		llr := r.test.LLR(r.Pairs)
		r.LLR, r.Verdict = &llr, r.test.Verdict(r.Pairs)
	}
}

// String implements fmt.Stringer.
func (r TwoPlayerResult) String() string {
	text := fmt.Sprintf(`%s: %s against %s, seed %d
%sgames   %d: %d wins, %d draws, %d losses
pairs   %d lost, %d at ½, %d at 1, %d at 1½, %d won
score   %.2f %%, 95 %% interval %.2f to %.2f
Elo     %+.0f, 95 %% interval %+.0f to %+.0f
`, r.Game, r.A, r.B, r.Seed, early(r.Stopped), r.Games, r.Wins, r.Draws, r.Losses,
		r.Pairs[0], r.Pairs[1], r.Pairs[2], r.Pairs[3], r.Pairs[4],
		100*r.Score, 100*r.Low, 100*r.High, r.Elo, r.EloLow, r.EloHigh)
	if r.LLR != nil {
		lower, upper := r.test.Bounds()
		text += fmt.Sprintf("SPRT    Elo %g against %g: LLR %+.2f in [%.2f, %.2f]: %s\n",
			r.test.Elo0, r.test.Elo1, *r.LLR, lower, upper, r.Verdict)
	}
	return text
}

func early(stopped bool) string {
	if stopped {
		return "stopped early\n"
	}
	return ""
}

// A MultiPlayerResult says how A did among several seats of B. The rank of a seat is 1 plus the number of seats with
// a higher score. It marshals to JSON; String is a table for people.
type MultiPlayerResult struct {
	Game        string  `json:"game"`
	A           string  `json:"a"`
	B           string  `json:"b"`
	Seats       int     `json:"seats"`
	Seed        uint64  `json:"seed,string"`
	Sets        int     `json:"sets"`
	Games       int     `json:"games"`
	First       int     `json:"first"` // games in which no seat had a higher score than A
	Rank        float64 `json:"mean_rank"`
	Low         float64 `json:"low"` // 95 % interval of Rank; its samples are the means of the sets
	High        float64 `json:"high"`
	OthersRank  float64 `json:"others_mean_rank"` // mean over the seats of B
	Score       float64 `json:"mean_points"`
	OthersScore float64 `json:"others_mean_points"`
	Stopped     bool    `json:"stopped,omitempty"` // the context ended
}

// MultiPlayer plays sets of games with m.Seats seats, of which A has one and B all others. In the games of a set A
// has every seat once, beginning with seat 0.
func (m Match) MultiPlayer(ctx context.Context) (MultiPlayerResult, error) {
	r := MultiPlayerResult{Game: m.Rules.Name, A: m.A.Name, B: m.B.Name, Seats: m.Seats, Seed: m.Seed}
	if err := m.check(max(2, m.Seats)); err != nil {
		return r, err
	}
	var lineups [][]Entrant
	for seat := range m.Seats {
		lineup := make([]Entrant, m.Seats)
		for k := range lineup {
			lineup[k] = Entrant{B: true, Stream: uint64(seat*m.Seats + k)}
		}
		lineup[seat].B = false
		lineups = append(lineups, lineup)
	}
	var ranks []float64 // mean rank of A in every set
	var err error
	r.Stopped, err = m.play(ctx, lineups, func(set []*record.Record) bool {
		ranks = append(ranks, r.add(set))
		m.progress(r.Games, "")
		return true
	})
	r.divide(ranks)
	return r, err
}

// add adds a set to the sums and returns the mean rank of A in it.
func (r *MultiPlayerResult) add(set []*record.Record) float64 {
	mean := 0.0
	for seat, rec := range set {
		for k, rank := range contest.Ranks(rec.Scores) {
			score := rec.Scores[k]
			if k != seat {
				r.OthersRank += float64(rank)
				r.OthersScore += float64(score)
				continue
			}
			mean += float64(rank) / float64(len(set))
			r.Rank += float64(rank)
			r.Score += float64(score)
			if rank == 1 {
				r.First++
			}
		}
	}
	r.Sets++
	r.Games += len(set)
	return mean
}

// divide makes means of the sums and adds the interval of the mean rank.
func (r *MultiPlayerResult) divide(ranks []float64) {
	if r.Sets == 0 {
		return
	}
	n, seats := float64(r.Games), float64(r.Seats)
	r.Rank, r.Score = r.Rank/n, r.Score/n
	r.OthersRank, r.OthersScore = r.OthersRank/n/(seats-1), r.OthersScore/n/(seats-1)
	e := meanWithin(ranks, nil, 1, seats)
	r.Low, r.High = e.Low, e.High
}

// String implements fmt.Stringer.
func (r MultiPlayerResult) String() string {
	return fmt.Sprintf(`%s for %d: one %s among %s, seed %d
%sgames   %d in %d sets, first in %d
rank    %.3f, 95 %% interval %.3f to %.3f; the others %.3f
points  %.2f; the others %.2f
`, r.Game, r.Seats, r.A, r.B, r.Seed, early(r.Stopped), r.Games, r.Sets, r.First,
		r.Rank, r.Low, r.High, r.OthersRank, r.Score, r.OthersScore)
}
