package series

import (
	"fmt"
	"strings"
)

// A BlockingReport is the result of a series of Blocking. Slices are by bot.
type BlockingReport struct {
	Game     string         `json:"game"`
	Seed     uint64         `json:"seed"`
	Games    int            `json:"games"`
	Distinct int            `json:"distinct"` // games, not counting repeated ones
	Bots     []BlockingBot  `json:"bots"`
	Score    *float64       `json:"score,omitempty"` // of the first of two bots
	Low      *float64       `json:"low,omitempty"`
	High     *float64       `json:"high,omitempty"`
	Played   []BlockingGame `json:"played"`
	Stopped  bool           `json:"stopped,omitempty"`
}

// A BlockingBot is how one bot came through.
type BlockingBot struct {
	Name    string  `json:"name"`
	Rank    float64 `json:"mean_rank"`
	First   int     `json:"first"` // games, shared first ranks included
	Points  float64 `json:"mean_points"`
	Answers int     `json:"answers"`
	Times
	Faults map[string]int `json:"faults"`
}

// A BlockingGame is one game. Slices are by bot.
type BlockingGame struct {
	Seed   uint64 `json:"seed,string"`
	Seats  []int  `json:"seats"`
	Scores []int  `json:"scores"` // -1 for a bot that was eliminated
	Ranks  []int  `json:"ranks"`
	Reason string `json:"reason"`
}

// Blocking returns the report of a series of Blocking; stopped says that it ended early.
func (s *Series) Blocking(stopped bool) *BlockingReport {
	out := &BlockingReport{
		Game: s.Rules.Name, Seed: s.Seed, Games: len(s.played), Distinct: s.distinct(), Stopped: stopped,
		Played: []BlockingGame{},
	}
	for _, b := range s.Bots {
		out.Bots = append(out.Bots, BlockingBot{Name: b.Name, Faults: map[string]int{}})
	}
	var halves []int // half points of the first of two bots
	for i := range s.played {
		row := out.add(&s.played[i])
		out.Played = append(out.Played, row)
		if len(s.Bots) == 2 {
			halves = append(halves, 1+row.Ranks[1]-row.Ranks[0])
		}
	}
	for i := range out.Bots {
		if n := float64(out.Games); n > 0 {
			out.Bots[i].Rank /= n
			out.Bots[i].Points /= n
		}
	}
	if p := pairs(halves); p.N() > 0 {
		score := p.Score()
		low, high := p.Interval()
		out.Score, out.Low, out.High = &score, &low, &high
	}
	return out
}

// add adds a game to the sums of all bots.
func (h *BlockingReport) add(g *game) BlockingGame {
	n := len(h.Bots)
	row := BlockingGame{
		Seed: g.Seed, Reason: g.Reason, Seats: make([]int, n), Scores: make([]int, n), Ranks: make([]int, n),
	}
	for seat, b := range g.Seating {
		bot, rank := &h.Bots[b], g.Ranks[seat]
		row.Seats[b], row.Scores[b], row.Ranks[b] = seat, g.Scores[seat], rank
		bot.Rank += float64(rank)
		bot.Points += float64(g.Points[seat])
		bot.Answers += g.Tallies[seat].Answers
		bot.Times.add(g.Tallies[seat])
		if rank == 1 {
			bot.First++
		}
		if fault := g.Faults[seat]; fault != "" {
			bot.Faults[fault]++
		}
	}
	return row
}

// String is a table for people.
func (h *BlockingReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, seed %d\n", h.Game, h.Seed)
	for i, t := range h.Bots {
		fmt.Fprintf(&b, "%s: %s\n", Letter(i), t.Name)
	}
	if h.Stopped {
		b.WriteString("stopped early\n")
	}
	b.WriteString("\ngame  seed                  seats    scores       ranks    end\n")
	for i, g := range h.Played {
		fmt.Fprintf(&b, "%4d  %-20d  %-7s  %-11s  %-7s  %s\n",
			i+1, g.Seed, list(g.Seats), list(g.Scores), list(g.Ranks), g.Reason)
	}
	writeDistinct(&b, h.Games, h.Distinct)
	b.WriteString("\nbot  mean rank  first  mean points  answers  ms a move  longest ms  faults\n")
	for i, t := range h.Bots {
		faults := 0
		for _, n := range t.Faults {
			faults += n
		}
		fmt.Fprintf(&b, "%s    %9.3f  %5d  %11.2f  %7d  %9.1f  %10.1f  %6d",
			Letter(i), t.Rank, t.First, t.Points, t.Answers, t.MeanMS, t.MostMS, faults)
		if faults > 0 {
			fmt.Fprintf(&b, "  %v", strings.TrimPrefix(fmt.Sprint(t.Faults), "map"))
		}
		b.WriteByte('\n')
	}
	if h.Score != nil {
		fmt.Fprintf(&b, "score of A: %.1f %%, 95 %% interval %.1f to %.1f\n", 100**h.Score, 100**h.Low, 100**h.High)
	}
	return b.String()
}

// list writes numbers with spaces between.
func list(v []int) string { return strings.Trim(fmt.Sprint(v), "[]") }
