package series

import (
	"fmt"
	"strings"
	"time"

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

// writeDistinct prints how many of the games were distinct, and how to get more of them.
func writeDistinct(b *strings.Builder, games, distinct int) {
	fmt.Fprintf(b, "distinct games: %d of %d", distinct, games)
	if distinct < games {
		b.WriteString("; the others repeat one of them move for move (--new-seed game: a new seed for every game)")
	}
	b.WriteByte('\n')
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

// Times says how long a bot took for its answers.
type Times struct {
	MeanMS float64 `json:"mean_ms"`
	MostMS float64 `json:"longest_ms"`

	used    time.Duration
	answers int
}

// TimesOf returns the times of a number of answers that took used in all and longest at most.
func TimesOf(used, longest time.Duration, answers int) Times {
	t := Times{MostMS: longest.Seconds() * 1000, used: used, answers: answers}
	if answers > 0 {
		t.MeanMS = used.Seconds() * 1000 / float64(answers)
	}
	return t
}

// Add adds the times of more answers.
func (t *Times) Add(more Times) {
	most := max(t.MostMS, more.MostMS)
	*t = TimesOf(t.used+more.used, 0, t.answers+more.answers)
	t.MostMS = most
}

// add adds the answers of one game.
func (t *Times) add(g contest.Tally) { t.Add(TimesOf(g.Used, g.Longest, g.Answers)) }

// A BlockBattleReport is the result of a series of Block Battle, from the view of the first bot.
type BlockBattleReport struct {
	match.Standing
	Distinct int               `json:"distinct"` // games, not counting repeated ones
	Bots     [2]BlockBattleBot `json:"bots"`
	Stopped  bool              `json:"stopped,omitempty"`

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
	out := &BlockBattleReport{Standing: s.standing(), Distinct: s.distinct(), Stopped: stopped, played: s.played}
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
	writeDistinct(&b, len(h.played), h.Distinct)
	b.WriteString("\n" + botColumns + "  time-outs  remarks  ended  ms a move  longest ms\n")
	for i, t := range h.Bots {
		writeBot(&b, &h.Standing, i, t.Points)
		fmt.Fprintf(&b, "  %9d  %7d  %5d  %9.1f  %10.1f\n", t.Timeouts, t.Remarks, t.Ended, t.MeanMS, t.MostMS)
	}
	return b.String()
}
