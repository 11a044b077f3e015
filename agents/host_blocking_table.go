package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"blockyard/agents/match"
)

// A blockingSummary is what a match of Blocking came to. Arrays are by bot.
type blockingSummary struct {
	Game    string               `json:"game"`
	Seed    uint64               `json:"seed"`
	Games   int                  `json:"games"`
	Bots    []blockingTally      `json:"bots"`
	Score   *float64             `json:"score,omitempty"` // of the first of two bots
	Low     *float64             `json:"low,omitempty"`
	High    *float64             `json:"high,omitempty"`
	Played  []blockingGameReport `json:"played"`
	Stopped bool                 `json:"stopped,omitempty"`
}

// A blockingTally is how one bot came through a match.
type blockingTally struct {
	Name    string         `json:"name"`
	Rank    float64        `json:"mean_rank"`
	First   int            `json:"first"` // games, shared first ranks included
	Points  float64        `json:"mean_points"`
	Answers int            `json:"answers"`
	MeanMS  float64        `json:"mean_ms"`
	MostMS  float64        `json:"longest_ms"`
	Faults  map[string]int `json:"faults"`

	used time.Duration
}

// A blockingGameReport is one game. Arrays are by bot.
type blockingGameReport struct {
	Seed   uint64 `json:"seed,string"`
	Seats  []int  `json:"seats"`
	Scores []int  `json:"scores"` // -1 for a bot that was eliminated
	Ranks  []int  `json:"ranks"`
	Reason string `json:"reason"`
}

func (s *blockingSeries) summary(stopped bool) *blockingSummary {
	out := &blockingSummary{Game: s.rules.Name, Seed: s.seed, Games: len(s.results), Stopped: stopped, Played: []blockingGameReport{}}
	for _, b := range s.bots {
		out.Bots = append(out.Bots, blockingTally{Name: b.name, Faults: map[string]int{}})
	}
	var pairs match.Pairs
	halves := 0 // half points of the first bot in the pair under way
	for i := range s.results {
		row := out.count(&s.results[i])
		if i%2 == 0 {
			halves = 0
		}
		if halves += 1 + row.Ranks[1] - row.Ranks[0]; len(s.bots) == 2 && i%2 == 1 {
			pairs[halves]++
		}
		out.Played = append(out.Played, row)
	}
	for i := range out.Bots {
		b := &out.Bots[i]
		if n := float64(out.Games); n > 0 {
			b.Rank, b.Points = b.Rank/n, b.Points/n
		}
		if b.Answers > 0 {
			b.MeanMS = b.used.Seconds() * 1000 / float64(b.Answers)
		}
	}
	if len(s.bots) == 2 && pairs.N() > 0 {
		score := pairs.Score()
		low, high := pairs.Interval()
		out.Score, out.Low, out.High = &score, &low, &high
	}
	return out
}

// count adds a game to the sums of all bots.
func (h *blockingSummary) count(g *blockingGame) blockingGameReport {
	n := len(h.Bots)
	row := blockingGameReport{Seed: g.Seed, Reason: g.Reason, Seats: make([]int, n), Scores: make([]int, n), Ranks: make([]int, n)}
	for seat, b := range g.Seating {
		t, sum := &g.Tallies[seat], &h.Bots[b]
		row.Seats[b], row.Scores[b], row.Ranks[b] = seat, t.Score, t.Rank
		sum.Rank += float64(t.Rank)
		sum.Points += float64(t.Points)
		sum.Answers += t.Answers
		sum.used += t.Used
		sum.MostMS = max(sum.MostMS, t.Longest.Seconds()*1000)
		if t.Rank == 1 {
			sum.First++
		}
		if t.Fault != "" {
			sum.Faults[t.Fault]++
		}
	}
	return row
}

// write prints the summary for people, or as a line of JSON.
func (h *blockingSummary) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(h)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, seed %d\n", h.Game, h.Seed)
	for i, t := range h.Bots {
		fmt.Fprintf(&b, "%c: %s\n", 'A'+i, t.Name)
	}
	if h.Stopped {
		b.WriteString("stopped early\n")
	}
	b.WriteString("\ngame  seed                  seats    scores       ranks    end\n")
	for i, g := range h.Played {
		fmt.Fprintf(&b, "%4d  %-20d  %-7s  %-11s  %-7s  %s\n", i+1, g.Seed, list(g.Seats), list(g.Scores), list(g.Ranks), g.Reason)
	}
	b.WriteString("\nbot  mean rank  first  mean points  answers  ms a move  longest ms  faults\n")
	for i, t := range h.Bots {
		faults := 0
		for _, n := range t.Faults {
			faults += n
		}
		fmt.Fprintf(&b, "%c    %9.3f  %5d  %11.2f  %7d  %9.1f  %10.1f  %6d", 'A'+i, t.Rank, t.First, t.Points, t.Answers, t.MeanMS, t.MostMS, faults)
		if faults > 0 {
			fmt.Fprintf(&b, "  %v", strings.TrimPrefix(fmt.Sprint(t.Faults), "map"))
		}
		b.WriteByte('\n')
	}
	if h.Score != nil {
		fmt.Fprintf(&b, "score of A: %.1f %%, 95 %% interval %.1f to %.1f\n", 100**h.Score, 100**h.Low, 100**h.High)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// list writes numbers with blanks between.
func list(v []int) string { return strings.Trim(fmt.Sprint(v), "[]") }
