package series

import (
	"fmt"
	"strings"

	"blockyard/agents/contest"
	"blockyard/agents/match"
)

// A Standing is the result of games between two bots in pairs, from the view of the first, A.
type Standing struct {
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
}

// standing returns the result of the games so far.
func (s *Series) standing() Standing {
	n := len(s.played)
	out := Standing{Game: s.Rules.Name, A: s.Bots[0].Name, B: s.Bots[1].Name, Seed: s.Seed, Games: n}
	var halves []int
	for i := range s.played {
		half := s.played[i].halfPoints()
		halves = append(halves, half)
		switch half {
		case 2:
			out.Wins++
		case 1:
			out.Draws++
		default:
			out.Losses++
		}
	}
	out.Score = 0.5
	if n > 0 {
		out.Score = (float64(out.Wins) + float64(out.Draws)/2) / float64(n)
	}
	out.Low, out.High = pairs(halves).Interval()
	out.Elo = match.EloWithin(out.Score, max(1, n))
	return out
}

// pairs counts the half points of bot A in each pair of games; a last game alone is left out.
func pairs(halves []int) (p match.Pairs) {
	for i := 1; i < len(halves); i += 2 {
		p[halves[i-1]+halves[i]]++
	}
	return p
}

// winner returns the bot that has won, or contest.Nobody.
func (g *game) winner() int {
	if g.Winner == contest.Nobody {
		return contest.Nobody
	}
	return g.Seating[g.Winner]
}

// halfPoints returns bot A's half points: 2, 1 or 0.
func (g *game) halfPoints() int {
	if b := g.winner(); b != contest.Nobody {
		return 2 * (1 - b)
	}
	return 1
}

// Letter names a bot: A to Z, then AA, AB, ...
func Letter(bot int) string {
	if bot < 26 {
		return string(rune('A' + bot))
	}
	return Letter(bot/26-1) + Letter(bot%26)
}

// writeHead prints who played what.
func (h *Standing) writeHead(b *strings.Builder, stopped bool) {
	fmt.Fprintf(b, "%s, seed %d\nA: %s\nB: %s\n\n", h.Game, h.Seed, h.A, h.B)
	if stopped {
		b.WriteString("stopped early\n")
	}
}

// botColumns is the head of the columns that writeBot prints.
const botColumns = "bot  wins  draws  losses  score    points"

// writeBot prints the first columns of the line of a bot.
func (h *Standing) writeBot(b *strings.Builder, bot, points int) {
	wins, losses, score := h.Wins, h.Losses, h.Score
	if bot == 1 {
		wins, losses, score = h.Losses, h.Wins, 1-h.Score
	}
	fmt.Fprintf(b, "%s    %4d  %5d  %6d  %5.1f %%  %6d", Letter(bot), wins, h.Draws, losses, 100*score, points)
}
