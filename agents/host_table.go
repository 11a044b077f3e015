package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"blockyard/agents/match"
)

// A hostSummary is what a series came to, from the view of the first bot.
type hostSummary struct {
	Game    string      `json:"game"`
	A       string      `json:"a"`
	B       string      `json:"b"`
	Seed    uint64      `json:"seed"`
	Games   int         `json:"games"`
	Wins    int         `json:"wins"`
	Draws   int         `json:"draws"`
	Losses  int         `json:"losses"`
	Score   float64     `json:"score"`
	Low     float64     `json:"low"`
	High    float64     `json:"high"`
	Elo     float64     `json:"elo"`
	Bots    [2]botTally `json:"bots"`
	Stopped bool        `json:"stopped,omitempty"`

	rows []string
}

// A botTally is how one bot came through.
type botTally struct {
	Points   int     `json:"points"`
	Answers  int     `json:"answers"`
	Timeouts int     `json:"timeouts"`
	Remarks  int     `json:"remarks"`
	Ended    int     `json:"ended_early"` // games
	MeanMS   float64 `json:"mean_ms"`
	MostMS   float64 `json:"longest_ms"`

	used time.Duration
}

func (s *series) summary(wanted int, stopped bool) *hostSummary {
	out := &hostSummary{Game: s.rules.Name, A: s.bots[0].name, B: s.bots[1].name, Seed: s.seed, Games: len(s.results), Stopped: stopped}
	var pairs match.Pairs
	halves := 0 // half points of bot A in the pair under way
	for i, g := range s.results {
		gain := out.count(&g)
		if i%2 == 0 {
			halves = 0
		}
		if halves += gain; i%2 == 1 {
			pairs[halves]++
		}
		for seat, t := range g.Tallies {
			out.Bots[g.Bots[seat]].add(t.Answers, t.Timeouts, t.Remarks, g.Points[seat], t.Gone, t.Used, t.Longest)
		}
		out.rows = append(out.rows, s.row(i, &g))
	}
	out.Score = 0.5
	if n := float64(out.Games); n > 0 {
		out.Score = (float64(out.Wins) + float64(out.Draws)/2) / n
	}
	out.Low, out.High = pairs.Interval()
	out.Elo = match.EloWithin(out.Score, max(1, out.Games))
	for i := range out.Bots {
		if b := &out.Bots[i]; b.Answers > 0 {
			b.MeanMS = b.used.Seconds() * 1000 / float64(b.Answers)
		}
	}
	return out
}

// count books the outcome and returns bot A's half points.
func (h *hostSummary) count(g *hostedGame) int {
	switch {
	case g.Winner < 0:
		h.Draws++
		return 1
	case g.Bots[g.Winner] == 0:
		h.Wins++
		return 2
	}
	h.Losses++
	return 0
}

func (b *botTally) add(answers, timeouts, remarks, points int, gone bool, used, longest time.Duration) {
	b.Answers += answers
	b.Timeouts += timeouts
	b.Remarks += remarks
	b.Points += points
	b.used += used
	if gone {
		b.Ended++
	}
	b.MostMS = max(b.MostMS, longest.Seconds()*1000)
}

func (s *series) row(i int, g *hostedGame) string {
	winner := "draw"
	if g.Winner >= 0 {
		winner = string(rune('A' + g.Bots[g.Winner]))
	}
	return fmt.Sprintf("%4d  %-20d  %c      %6d  %4d : %-4d  %s", i+1, s.seedOf(i), 'A'+g.Bots[0], g.Rounds,
		g.Points[g.Bots[0]], g.Points[g.Bots[1]], winner)
}

// write prints the summary for people, or as a line of JSON.
func (h *hostSummary) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(h)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, seed %d\nA: %s\nB: %s\n\n", h.Game, h.Seed, h.A, h.B)
	if h.Stopped {
		b.WriteString("stopped early\n")
	}
	b.WriteString("game  seed                  first  rounds  points A:B   winner\n")
	for _, r := range h.rows {
		b.WriteString(r + "\n")
	}
	b.WriteString("\nbot  wins  draws  losses  score    points  time-outs  remarks  ended  ms a move  longest ms\n")
	for i, t := range h.Bots {
		wins, losses, score := h.Wins, h.Losses, h.Score
		if i == 1 {
			wins, losses, score = h.Losses, h.Wins, 1-h.Score
		}
		fmt.Fprintf(&b, "%c    %4d  %5d  %6d  %5.1f %%  %6d  %9d  %7d  %5d  %9.1f  %10.1f\n",
			'A'+i, wins, h.Draws, losses, 100*score, t.Points, t.Timeouts, t.Remarks, t.Ended, t.MeanMS, t.MostMS)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
