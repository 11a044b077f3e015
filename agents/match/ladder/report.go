package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"blockyard/agents/match"
)

// A Report is how a ladder stands.
type Report struct {
	Game     string     `json:"game"`
	Seed     uint64     `json:"seed,string"`
	Games    int        `json:"games"`
	Expected int        `json:"expected"`
	Cap      int        `json:"cap,omitempty"`
	Steps    int        `json:"steps,omitempty"`
	Players  []Standing `json:"players"`  // strongest first
	Meetings []Meeting  `json:"meetings"` // of every two players that have met
}

// A Standing is how a player did against all others. In a game of one seat, wins, draws and losses count the seeds that
// two players have both played.
type Standing struct {
	Name  string `json:"name"`
	Games int    `json:"games"` // played
	match.Counts
	Score  float64        `json:"score"`            // wins and half the draws, as a fraction
	Points *float64       `json:"points,omitempty"` // mean score in a game of one seat
	Elo    match.Estimate `json:"elo"`              // relative to the mean of all players
}

// A Meeting is how two players did against each other, from the view of A.
type Meeting struct {
	A string `json:"a"`
	B string `json:"b"`
	match.Counts
}

// Report returns how the ladder stands.
func (l *Ladder) Report() *Report {
	r := &Report{Game: l.Rules.Name, Seed: l.Seed, Games: l.games(len(l.played)), Expected: l.Expected(), Cap: l.Cap,
		Steps: l.Steps, Meetings: []Meeting{}}
	all, points := l.results()
	for k, elo := range all.Elo() {
		c := all.Of(k)
		s := Standing{Name: l.Players[k].Name, Games: c.Total(), Counts: c, Score: c.Share(), Elo: elo}
		if l.alone() {
			mean := match.MeanOf(points[k]).Value
			s.Games, s.Points = len(points[k]), &mean
		}
		r.Players = append(r.Players, s)
		for b := k + 1; b < len(l.Players); b++ {
			if c := all.Meeting(k, b); c.Total() > 0 {
				r.Meetings = append(r.Meetings, Meeting{s.Name, l.Players[b].Name, c})
			}
		}
	}
	slices.SortStableFunc(r.Players, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(b.Elo.Value, a.Elo.Value), cmp.Compare(b.Score, a.Score))
	})
	return r
}

// results are the results of the units played and, in a game of one seat, the scores of every player.
func (l *Ladder) results() (*match.Results, [][]float64) {
	all, points := match.NewResults(len(l.Players)), make([][]float64, len(l.Players))
	for k, u := range l.played {
		if l.alone() {
			points[u.A] = append(points[u.A], float64(u.Score))
			for _, v := range l.played[k-u.A : k] { // of the same round
				all.Add(v.A, u.A, 1+cmp.Compare(v.Score, u.Score))
			}
			continue
		}
		for half, count := range [...]int{u.Losses, u.Draws, u.Wins} {
			for range count {
				all.Add(u.A, u.B, half)
			}
		}
	}
	return all, points
}

// String returns the table.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, seed %d: %d games", r.Game, r.Seed, r.Games)
	if r.Games < r.Expected {
		fmt.Fprintf(&b, " of %d; run the same command again to go on", r.Expected)
	}
	if r.Cap > 0 {
		fmt.Fprintf(&b, ", stopped at score %d", r.Cap)
	}
	if r.Steps > 0 {
		fmt.Fprintf(&b, ", stopped after %d actions", r.Steps)
	}
	b.WriteString("\n\n")
	var lines []match.Line
	var points []string
	for _, s := range r.Players {
		l := match.Line{Before: []string{s.Name}, Games: s.Games, Counts: s.Counts, Elo: s.Elo}
		if s.Points != nil {
			points, l.After = []string{"mean points"}, []string{fmt.Sprintf("%.1f", *s.Points)}
		}
		lines = append(lines, l)
	}
	return b.String() + match.Table([]string{"player"}, points, lines)
}
