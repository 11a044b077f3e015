package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// A hostSummary is what a series came to, from the view of the first bot.
type hostSummary struct {
	standing
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
	out := &hostSummary{standing: newStanding(s, len(s.results)), Stopped: stopped}
	for i, g := range s.results {
		out.book(i, g.half())
		for seat, t := range g.Tallies {
			out.Bots[g.Bots[seat]].add(t.Answers, t.Timeouts, t.Remarks, g.Points[seat], t.Gone, t.Used, t.Longest)
		}
		out.rows = append(out.rows, s.row(i, &g))
	}
	out.rate()
	for i := range out.Bots {
		b := &out.Bots[i]
		b.MeanMS = meanMS(b.used, b.Answers)
	}
	return out
}

// half returns bot A's half points.
func (g *hostedGame) half() int {
	switch {
	case g.Winner < 0:
		return 1
	case g.Bots[g.Winner] == 0:
		return 2
	}
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
	h.writeHead(&b, h.Stopped)
	b.WriteString("game  seed                  first  rounds  points A:B   winner\n")
	for _, r := range h.rows {
		b.WriteString(r + "\n")
	}
	b.WriteString("\n" + botColumns + "  time-outs  remarks  ended  ms a move  longest ms\n")
	for i, t := range h.Bots {
		h.writeBot(&b, i, t.Points)
		fmt.Fprintf(&b, "  %9d  %7d  %5d  %9.1f  %10.1f\n", t.Timeouts, t.Remarks, t.Ended, t.MeanMS, t.MostMS)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
