package series

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/match"
)

// A Report is the result of a series of any contest. A, B, ... are the bots, in the order in which they were named.
type Report struct {
	Game     string      `json:"game"`
	Seed     uint64      `json:"seed,string"`
	Games    int         `json:"games"`      // that were played to their end
	Distinct int         `json:"distinct"`   // games, not counting those that repeat another one move for move
	Names    []string    `json:"seat_names"` // what the contest and the logs call the seats
	Bots     []BotReport `json:"bots"`
	Played   []Row       `json:"played"`
	Stopped  bool        `json:"stopped,omitempty"` // the series was interrupted
	Void     []string    `json:"void,omitempty"`    // games that do not count, and why

	// Of two bots: the match from the view of A, and its winner: A, B or none. At equal games the bot wins that has used
	// less time, in contests with a time for the whole game.
	Match  *match.Standing `json:"match,omitempty"`
	Winner string          `json:"winner,omitempty"`
}

// A BotReport is how one bot came through.
type BotReport struct {
	Name     string   `json:"name"`
	First    int      `json:"first"`     // games with the best rank, shared ones included
	Rank     float64  `json:"mean_rank"` // from 1
	Points   int      `json:"points"`    // of all games
	Answers  int      `json:"answers"`
	Timeouts int      `json:"timeouts"`
	Remarks  int      `json:"remarks"`          // about its answers
	Ended    int      `json:"ended_early"`      // games in which its process ended
	LeftS    *float64 `json:"left_s,omitempty"` // seconds left of all its games, if a game has one time for all answers
	Times
	Odd    []string       `json:"odd,omitempty"` // about its output, each once, with an answer that had a remark
	Faults map[string]int `json:"faults"`        // games, by what it was eliminated for or lost by
}

// A Row is one game. Slices are by bot.
type Row struct {
	Seed   uint64   `json:"seed,string"`
	Seats  []int    `json:"seats"`  // from 0
	Turns  int      `json:"rounds"` // as records count them
	Points []int    `json:"points"`
	Ranks  []int    `json:"ranks"` // from 1; equal ranks are a draw
	Reason string   `json:"reason,omitempty"`
	Faults []string `json:"faults,omitempty"` // what a bot was eliminated for; "" for nothing
}

// Report returns the report of the games so far; stopped says that the series ended early.
func (s *Series) Report(stopped bool) *Report {
	out := &Report{
		Game: s.Rules.Name, Seed: s.Seed, Games: len(s.played), Distinct: s.distinct(), Played: []Row{}, Stopped: stopped,
		Void: s.void,
	}
	for _, b := range s.Bots {
		out.Bots = append(out.Bots, BotReport{Name: b.Name, Faults: map[string]int{}})
	}
	for i := range s.played {
		out.add(&s.played[i])
	}
	for i := range out.Bots {
		if out.Games > 0 {
			out.Bots[i].Rank /= float64(out.Games)
		}
	}
	if len(out.Bots) == 2 {
		out.standing(s)
	}
	return out
}

// add adds a game to the sums of all bots.
func (r *Report) add(g *game) {
	n := len(r.Bots)
	r.Names = g.Names
	row := Row{Seed: g.Seed, Reason: g.Reason, Turns: g.Turns,
		Seats: make([]int, n), Points: make([]int, n), Ranks: make([]int, n)}
	ranks := g.Ranking(n)
	for seat, b := range g.Seating {
		bot, t := &r.Bots[b], g.Tallies[seat]
		row.Seats[b], row.Points[b], row.Ranks[b] = seat, g.Points[seat], ranks[seat]
		bot.Rank += float64(ranks[seat])
		bot.Points += g.Points[seat]
		bot.Answers += t.Answers
		bot.Timeouts += t.Timeouts
		bot.Remarks += t.Remarks
		bot.Odd = contest.AddHabits(bot.Odd, t.Habits())
		bot.Times.add(t)
		if t.Limits.OneBudget() {
			left := t.Left.Seconds()
			if bot.LeftS != nil {
				left += *bot.LeftS
			}
			bot.LeftS = &left
		}
		if ranks[seat] == 1 {
			bot.First++
		}
		if t.Gone {
			bot.Ended++
		}
		switch {
		case seat < len(g.Faults) && g.Faults[seat] != "":
			if row.Faults == nil {
				row.Faults = make([]string, n)
			}
			row.Faults[b] = g.Faults[seat]
			bot.Faults[g.Faults[seat]]++
		case g.Faults == nil && ranks[seat] > 1 && g.Reason != "":
			bot.Faults[g.Reason]++
		}
	}
	r.Played = append(r.Played, row)
}

// standing fills in the match between two bots.
func (r *Report) standing(s *Series) {
	m := &match.Standing{Game: r.Game, A: s.Bots[0].Name, B: s.Bots[1].Name, Seed: s.Seed}
	var pairs match.Pairs
	for i, row := range r.Played {
		half := row.halfPoints()
		m.Count(half)
		if i%2 == 1 { // a last game alone is left out
			pairs[half+r.Played[i-1].halfPoints()]++
		}
	}
	m.Estimate(pairs)
	r.Match = m
	lead := cmp.Compare(m.Wins, m.Losses)
	if lead == 0 && r.Bots[0].LeftS != nil {
		lead = cmp.Compare(*r.Bots[0].LeftS, *r.Bots[1].LeftS)
	}
	r.Winner = [...]string{"B", "none", "A"}[1+lead]
}

// halfPoints returns the half points of the first of two bots: 2, 1 or 0.
func (r *Row) halfPoints() int { return 1 + cmp.Compare(r.Ranks[1], r.Ranks[0]) }

// Letter names a bot: A to Z, then AA, AB, ...
func Letter(bot int) string {
	if bot < 26 {
		return string(rune('A' + bot))
	}
	return Letter(bot/26-1) + Letter(bot%26)
}

// String is a table for people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, seed %d\n", r.Game, r.Seed)
	for i, bot := range r.Bots {
		fmt.Fprintf(&b, "%s: %s\n", Letter(i), bot.Name)
	}
	if r.Stopped {
		b.WriteString("stopped early\n")
	}
	letters := ""
	for i := range r.Bots {
		letters += " " + Letter(i)
	}
	b.WriteString("\ngame  seed                ")
	for _, name := range r.Names {
		fmt.Fprintf(&b, "  %7s", name)
	}
	fmt.Fprintf(&b, "  turns  points%-9s  ranks%-8s  end\n", letters, letters)
	for i, g := range r.Played {
		end := g.Reason
		for bot, fault := range g.Faults {
			if fault != "" {
				end += fmt.Sprintf(", %s: %s", Letter(bot), fault)
			}
		}
		fmt.Fprintf(&b, "%4d  %-20d", i+1, g.Seed)
		for seat, name := range r.Names {
			fmt.Fprintf(&b, "  %*s", max(len(name), 7), Letter(slices.Index(g.Seats, seat)))
		}
		fmt.Fprintf(&b, "  %5d  %-15s  %-13s  %s\n", g.Turns, list(g.Points), list(g.Ranks), strings.TrimPrefix(end, ", "))
	}
	for _, text := range r.Void {
		fmt.Fprintf(&b, "does not count: %s\n", text)
	}
	fmt.Fprintf(&b, "distinct games: %d of %d", r.Distinct, r.Games)
	if r.Distinct < r.Games {
		b.WriteString("; the others repeat one of them move for move (--new-seed game: a new seed for every game)")
	}
	b.WriteString("\n\nbot  first  mean rank  points  answers  time-outs  remarks  ended  ms an answer  longest ms  " +
		"lost by\n")
	for i, t := range r.Bots {
		fmt.Fprintf(&b, "%-3s  %5d  %9.3f  %6d  %7d  %9d  %7d  %5d  %12.1f  %10.1f  %s", Letter(i), t.First, t.Rank,
			t.Points, t.Answers, t.Timeouts, t.Remarks, t.Ended, t.MeanMS, t.MostMS, Counts(t.Faults))
		if t.LeftS != nil {
			fmt.Fprintf(&b, " (%.1f s left)", *t.LeftS)
		}
		b.WriteByte('\n')
	}
	for i, t := range r.Bots {
		for _, text := range t.Odd {
			fmt.Fprintf(&b, "%s: %s\n", Letter(i), text)
		}
	}
	if m := r.Match; m != nil && m.Games > 0 {
		fmt.Fprintf(&b, "A won %d, drew %d and lost %d of %d games: %.1f %%, 95 %% interval %.1f to %.1f; "+
			"the match is won by %s\n", m.Wins, m.Draws, m.Losses, m.Games, 100*m.Score, 100*m.Low, 100*m.High, r.Winner)
	}
	return b.String()
}

// list writes numbers with spaces between.
func list(v []int) string { return strings.Trim(fmt.Sprint(v), "[]") }

// Counts lists how often each reason occurred.
func Counts(counts map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, counts[reason]))
	}
	return strings.Join(parts, ", ")
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
