package series

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"blockyard/agents/contest"
	"blockyard/agents/match"
)

// A DuelReport is the result of a series of the Tetris duel. A is the first bot; wins and losses
// are its.
type DuelReport struct {
	match.Standing
	Winner   string     `json:"winner"`   // of the match: more games, then more time left; A, B or none
	Distinct int        `json:"distinct"` // games, not counting repeated ones
	Bots     [2]DuelBot `json:"bots"`
	Played   []DuelGame `json:"played"`
	Stopped  bool       `json:"stopped,omitempty"`

	reasons []string // in the order of the table
}

// A DuelBot is how one bot came through.
type DuelBot struct {
	Points  int     `json:"points"`
	Answers int     `json:"answers"`
	LeftS   float64 `json:"left_s"` // of all its budgets together
	Times
	Lost map[string]int `json:"lost"` // games, by reason
}

// A DuelGame is one game.
type DuelGame struct {
	Seed   uint64 `json:"seed,string"`
	First  string `json:"first"` // bot in the first seat: A or B
	Turns  int    `json:"turns"`
	Points [2]int `json:"points"` // of A and B
	Winner string `json:"winner"` // A, B or none
	Reason string `json:"reason"`
}

// Duel returns the report of a series of the Tetris duel; stopped says that it ended early. The
// table lists reasons for losing in the given order.
func (s *Series) Duel(stopped bool, reasons []string) *DuelReport {
	out := &DuelReport{Standing: s.standing(), Distinct: s.distinct(), Stopped: stopped, reasons: reasons}
	for i := range out.Bots {
		out.Bots[i].Lost = map[string]int{}
	}
	for i := range s.played {
		out.add(&s.played[i])
	}
	out.Winner = name(out.winner())
	return out
}

// name names a bot or says that there is none.
func name(bot int) string {
	if bot == contest.Nobody {
		return "none"
	}
	return Letter(bot)
}

// winner returns the bot that won more games or, if both won as many, has more time left.
func (h *DuelReport) winner() int {
	a, b := float64(h.Wins), float64(h.Losses)
	if a == b {
		a, b = h.Bots[0].LeftS, h.Bots[1].LeftS
	}
	switch {
	case a > b:
		return 0
	case b > a:
		return 1
	}
	return contest.Nobody
}

// add adds a game.
func (h *DuelReport) add(g *game) {
	winner := g.winner()
	row := DuelGame{Seed: g.Seed, First: Letter(g.Seating[0]), Turns: g.Rounds, Winner: name(winner), Reason: g.Reason}
	for seat, b := range g.Seating {
		row.Points[b] = g.Points[seat]
		bot, t := &h.Bots[b], g.Tallies[seat]
		bot.Points += g.Points[seat]
		bot.Answers += t.Answers
		bot.LeftS += t.Left.Seconds()
		bot.Times.add(t)
	}
	if winner != contest.Nobody {
		h.Bots[1-winner].Lost[g.Reason]++
	}
	h.Played = append(h.Played, row)
}

// String is a table for people.
func (h *DuelReport) String() string {
	var b strings.Builder
	writeHead(&b, &h.Standing, h.Stopped)
	b.WriteString("game  seed                  first  half-turns  points A:B   winner  reason\n")
	for i, r := range h.Played {
		fmt.Fprintf(&b, "%4d  %-20d  %s      %10d  %4d : %-4d  %-6s  %s\n",
			i+1, r.Seed, r.First, r.Turns, r.Points[0], r.Points[1], r.Winner, r.Reason)
	}
	writeDistinct(&b, len(h.Played), h.Distinct)
	b.WriteString("\n" + botColumns + "  time left s  ms a move  longest ms  lost by\n")
	for i, t := range h.Bots {
		writeBot(&b, &h.Standing, i, t.Points)
		fmt.Fprintf(&b, "  %11.1f  %9.1f  %10.1f  %s\n", t.LeftS, t.MeanMS, t.MostMS, Counts(t.Lost, h.reasons))
	}
	fmt.Fprintf(&b, "match won by %s: more games, then more time left\n", h.Winner)
	return b.String()
}

// Counts lists how often each reason occurred, in the given order, or sorted if order is nil.
func Counts(counts map[string]int, order []string) string {
	if order == nil {
		order = slices.Sorted(maps.Keys(counts))
	}
	var parts []string
	for _, reason := range order {
		if n := counts[reason]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", reason, n))
		}
	}
	return strings.Join(parts, ", ")
}
