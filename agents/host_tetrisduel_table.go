package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"blockyard/agents/match"
	"blockyard/agents/tetrisduelbot/referee"
)

// A duelSummary is what a match came to. A is the first bot; wins and losses are its.
type duelSummary struct {
	Game    string           `json:"game"`
	A       string           `json:"a"`
	B       string           `json:"b"`
	Seed    uint64           `json:"seed"`
	Games   int              `json:"games"`
	Wins    int              `json:"wins"`
	Draws   int              `json:"draws"`
	Losses  int              `json:"losses"`
	Score   float64          `json:"score"`
	Low     float64          `json:"low"`
	High    float64          `json:"high"`
	Elo     float64          `json:"elo"`
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
	out := &duelSummary{Game: s.rules.Name, A: s.bots[0].name, B: s.bots[1].name, Seed: s.seed, Games: len(d.results), Stopped: stopped}
	for i := range out.Bots {
		out.Bots[i].Lost = map[string]int{}
	}
	var pairs match.Pairs
	halves := 0 // half points of bot A in the pair under way
	for i := range d.results {
		gain := out.count(&d.results[i], s.seedOf(i))
		if i%2 == 0 {
			halves = 0
		}
		if halves += gain; i%2 == 1 {
			pairs[halves]++
		}
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

// count books a game and returns bot A's half points.
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
	switch half {
	case 2:
		h.Wins++
	case 1:
		h.Draws++
	default:
		h.Losses++
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
	fmt.Fprintf(&b, "%s, seed %d\nA: %s\nB: %s\n\n", h.Game, h.Seed, h.A, h.B)
	if h.Stopped {
		b.WriteString("stopped early\n")
	}
	b.WriteString("game  seed                  first  half-turns  points A:B   winner  reason\n")
	for i, r := range h.Played {
		fmt.Fprintf(&b, "%4d  %-20d  %s      %10d  %4d : %-4d  %-6s  %s\n", i+1, r.Seed, r.First, r.Turns, r.Points[0], r.Points[1], r.Winner, r.Reason)
	}
	b.WriteString("\nbot  wins  draws  losses  score    points  time left s  ms a move  longest ms  lost by\n")
	for i, t := range h.Bots {
		wins, losses, score := h.Wins, h.Losses, h.Score
		if i == 1 {
			wins, losses, score = h.Losses, h.Wins, 1-h.Score
		}
		fmt.Fprintf(&b, "%c    %4d  %5d  %6d  %5.1f %%  %6d  %11.1f  %9.1f  %10.1f  %s\n",
			'A'+i, wins, h.Draws, losses, 100*score, t.Points, t.LeftS, t.MeanMS, t.MostMS, t.lost())
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
