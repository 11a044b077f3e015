package main

import (
	"fmt"
	"strings"
	"time"

	"blockyard/agents/match"
)

// A standing is what games of two bots in pairs came to, from the view of the first, A.
type standing struct {
	Game   string  `json:"game"`
	A      string  `json:"a"`
	B      string  `json:"b"`
	Seed   uint64  `json:"seed"`
	Games  int     `json:"games"`
	Wins   int     `json:"wins"`
	Draws  int     `json:"draws"`
	Losses int     `json:"losses"`
	Score  float64 `json:"score"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Elo    float64 `json:"elo"`

	pairs  match.Pairs
	halves int // half points of A in the pair under way
}

// newStanding is a standing before the first of so many games is booked.
func newStanding(s *series, games int) standing {
	return standing{Game: s.rules.Name, A: s.bots[0].name, B: s.bots[1].name, Seed: s.seed, Games: games}
}

// book adds game i, in which A made so many half points: 2, 1 or 0. Games 0 and 1 are a
// pair, 2 and 3, and so on.
func (h *standing) book(i, half int) {
	switch half {
	case 2:
		h.Wins++
	case 1:
		h.Draws++
	default:
		h.Losses++
	}
	if i%2 == 0 {
		h.halves = 0
	}
	if h.halves += half; i%2 == 1 {
		h.pairs[h.halves]++
	}
}

// rate sets score, interval and Elo when all games are booked.
func (h *standing) rate() {
	h.Score = 0.5
	if n := float64(h.Games); n > 0 {
		h.Score = (float64(h.Wins) + float64(h.Draws)/2) / n
	}
	h.Low, h.High = h.pairs.Interval()
	h.Elo = match.EloWithin(h.Score, max(1, h.Games))
}

// writeHead prints who played what.
func (h *standing) writeHead(b *strings.Builder, stopped bool) {
	fmt.Fprintf(b, "%s, seed %d\nA: %s\nB: %s\n\n", h.Game, h.Seed, h.A, h.B)
	if stopped {
		b.WriteString("stopped early\n")
	}
}

// botColumns is the head of the columns that writeBot prints.
const botColumns = "bot  wins  draws  losses  score    points"

// writeBot prints the first columns of the line of bot i, 0 for A and 1 for B.
func (h *standing) writeBot(b *strings.Builder, i, points int) {
	wins, losses, score := h.Wins, h.Losses, h.Score
	if i == 1 {
		wins, losses, score = h.Losses, h.Wins, 1-h.Score
	}
	fmt.Fprintf(b, "%c    %4d  %5d  %6d  %5.1f %%  %6d", 'A'+i, wins, h.Draws, losses, 100*score, points)
}

// meanMS is the mean time of an answer in milliseconds, 0 if there was none.
func meanMS(used time.Duration, answers int) float64 {
	if answers == 0 {
		return 0
	}
	return used.Seconds() * 1000 / float64(answers)
}
