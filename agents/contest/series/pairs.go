package series

import (
	"fmt"
	"strings"

	"blockyard/agents/contest"
	"blockyard/agents/match"
)

// standing returns the result of the games so far between two bots.
func (s *Series) standing() match.Standing {
	out := match.Standing{Game: s.Rules.Name, A: s.Bots[0].Name, B: s.Bots[1].Name, Seed: s.Seed}
	var halves []int
	for i := range s.played {
		half := s.played[i].halfPoints()
		halves = append(halves, half)
		out.Count(half)
	}
	out.Estimate(pairs(halves))
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
func writeHead(b *strings.Builder, h *match.Standing, stopped bool) {
	fmt.Fprintf(b, "%s, seed %d\nA: %s\nB: %s\n\n", h.Game, h.Seed, h.A, h.B)
	if stopped {
		b.WriteString("stopped early\n")
	}
}

// botColumns is the head of the columns that writeBot prints.
const botColumns = "bot  wins  draws  losses  score    points"

// writeBot prints the first columns of the line of a bot.
func writeBot(b *strings.Builder, h *match.Standing, bot, points int) {
	wins, losses, score := h.Wins, h.Losses, h.Score
	if bot == 1 {
		wins, losses, score = h.Losses, h.Wins, 1-h.Score
	}
	fmt.Fprintf(b, "%s    %4d  %5d  %6d  %5.1f %%  %6d", Letter(bot), wins, h.Draws, losses, 100*score, points)
}
