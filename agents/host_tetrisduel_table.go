package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"blockyard/agents/tetrisduelbot/referee"
)

// A duelSummary is what a match came to. A is the first bot; wins and losses are its.
type duelSummary struct {
	standing
	Winner  string           `json:"winner"` // of the match: more games, then more time left; A, B or none
	Bots    [2]duelTally     `json:"bots"`
	Played  []duelGameReport `json:"played"`
	Stopped bool             `json:"stopped,omitempty"`
}

// A duelTally is how one bot came through a match.
type duelTally struct {
	Points  int            `json:"points"`
	Answers int            `json:"answers"`
	LeftS   float64        `json:"left_s"` // of all its budgets together
	MeanMS  float64        `json:"mean_ms"`
	MostMS  float64        `json:"longest_ms"`
	Lost    map[string]int `json:"lost"` // games, by reason

	used time.Duration
}

// A duelGameReport is one game.
type duelGameReport struct {
	Seed   uint64 `json:"seed,string"`
	First  string `json:"first"` // who had the first seat: A or B
	Turns  int    `json:"turns"`
	Points [2]int `json:"points"` // of A and B
	Winner string `json:"winner"` // A, B or none
	Reason string `json:"reason"`
}

func (d *duel) summary(stopped bool) *duelSummary {
	s := d.series
	out := &duelSummary{standing: newStanding(s, len(d.results)), Stopped: stopped}
	for i := range out.Bots {
		out.Bots[i].Lost = map[string]int{}
	}
	for i := range d.results {
		out.book(i, out.count(&d.results[i], s.seedOf(i)))
	}
	out.rate()
	for i := range out.Bots {
		b := &out.Bots[i]
		b.MeanMS = meanMS(b.used, b.Answers)
	}
	out.Winner = out.matchWinner()
	return out
}

// matchWinner is who won more games or, if both won as many, has more time left in all.
func (h *duelSummary) matchWinner() string {
	a, b := float64(h.Wins), float64(h.Losses)
	if a == b {
		a, b = h.Bots[0].LeftS, h.Bots[1].LeftS
	}
	switch {
	case a > b:
		return "A"
	case b > a:
		return "B"
	}
	return "none"
}

// count adds a game to the bots' tallies and the list and returns bot A's half points.
func (h *duelSummary) count(g *duelGame, seed uint64) int {
	row := duelGameReport{Seed: seed, First: string(rune('A' + g.Bots[0])), Turns: g.Turns, Winner: "none", Reason: g.Reason}
	for seat, b := range g.Bots {
		row.Points[b] = g.Points[seat]
		t, from := &h.Bots[b], g.Tallies[seat]
		t.Points += g.Points[seat]
		t.Answers += from.Answers
		t.LeftS += from.Left.Seconds()
		t.used += from.Used
		t.MostMS = max(t.MostMS, from.Longest.Seconds()*1000)
	}
	half := 1
	if g.Winner != referee.Nobody {
		winner := g.Bots[g.Winner]
		row.Winner = string(rune('A' + winner))
		h.Bots[1-winner].Lost[g.Reason]++
		half = 2 * (1 - winner)
	}
	h.Played = append(h.Played, row)
	return half
}

// write prints the summary for people, or as a line of JSON.
func (h *duelSummary) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(h)
	}
	var b strings.Builder
	h.writeHead(&b, h.Stopped)
	b.WriteString("game  seed                  first  half-turns  points A:B   winner  reason\n")
	for i, r := range h.Played {
		fmt.Fprintf(&b, "%4d  %-20d  %s      %10d  %4d : %-4d  %-6s  %s\n", i+1, r.Seed, r.First, r.Turns, r.Points[0], r.Points[1], r.Winner, r.Reason)
	}
	b.WriteString("\n" + botColumns + "  time left s  ms a move  longest ms  lost by\n")
	for i, t := range h.Bots {
		h.writeBot(&b, i, t.Points)
		fmt.Fprintf(&b, "  %11.1f  %9.1f  %10.1f  %s\n", t.LeftS, t.MeanMS, t.MostMS, t.lost())
	}
	fmt.Fprintf(&b, "match won by %s: more games, then more time left\n", h.Winner)
	_, err := io.WriteString(w, b.String())
	return err
}

// lost lists the reasons for which games were lost.
func (t *duelTally) lost() string {
	var parts []string
	for _, reason := range []string{"limit", "overflow", "illegal", referee.Exception, referee.Timeout, referee.Missing} {
		if n := t.Lost[reason]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", reason, n))
		}
	}
	return strings.Join(parts, ", ")
}
