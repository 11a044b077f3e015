package series

import (
	"fmt"
	"strings"

	"blockyard/agents/contest"
	"blockyard/agents/match"
)

// A BlockBattleReport is the result of a series of Block Battle, from the view of the first bot.
type BlockBattleReport struct {
	match.Standing
	Bots    [2]BlockBattleBot `json:"bots"`
	Stopped bool              `json:"stopped,omitempty"`

	played []game
}

// A BlockBattleBot is how one bot came through.
type BlockBattleBot struct {
	Points   int `json:"points"`
	Answers  int `json:"answers"`
	Timeouts int `json:"timeouts"`
	Remarks  int `json:"remarks"`
	Ended    int `json:"ended_early"` // games
	Times
}

// BlockBattle returns the report of a series of Block Battle; stopped says that it ended early.
func (s *Series) BlockBattle(stopped bool) *BlockBattleReport {
	out := &BlockBattleReport{Standing: s.standing(), Stopped: stopped, played: s.played}
	for _, g := range s.played {
		for seat, t := range g.Tallies {
			b := &out.Bots[g.Seating[seat]]
			b.Answers += t.Answers
			b.Timeouts += t.Timeouts
			b.Remarks += t.Remarks
			b.Points += g.Points[seat]
			if t.Gone {
				b.Ended++
			}
			b.Times.add(t)
		}
	}
	return out
}

// String is a table for people.
func (h *BlockBattleReport) String() string {
	var b strings.Builder
	writeHead(&b, &h.Standing, h.Stopped)
	b.WriteString("game  seed                  first  rounds  points A:B   winner\n")
	for i, g := range h.played {
		winner := "draw"
		if w := g.winner(); w != contest.Nobody {
			winner = Letter(w)
		}
		first := g.Seating[0]
		fmt.Fprintf(&b, "%4d  %-20d  %s      %6d  %4d : %-4d  %s\n", i+1, g.Seed, Letter(first), g.Rounds,
			g.Points[first], g.Points[1-first], winner)
	}
	b.WriteString("\n" + botColumns + "  time-outs  remarks  ended  ms a move  longest ms\n")
	for i, t := range h.Bots {
		writeBot(&b, &h.Standing, i, t.Points)
		fmt.Fprintf(&b, "  %9d  %7d  %5d  %9.1f  %10.1f\n", t.Timeouts, t.Remarks, t.Ended, t.MeanMS, t.MostMS)
	}
	return b.String()
}
