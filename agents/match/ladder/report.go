package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

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
	n := len(l.Players)
	r := &Report{Game: l.Rules.Name, Seed: l.Seed, Games: l.games(len(l.played)), Expected: l.Expected(), Cap: l.Cap,
		Steps: l.Steps, Players: make([]Standing, n), Meetings: []Meeting{}}
	for k, p := range l.Players {
		r.Players[k].Name = p.Name
	}
	results := match.NewResults(n)
	for _, u := range l.meetings() {
		a, b := &r.Players[u.A], &r.Players[u.B]
		for half, count := range [...]int{u.Losses, u.Draws, u.Wins} {
			for range count {
				results.Add(u.A, u.B, half)
				a.Count(half)
				b.Count(2 - half)
			}
		}
		r.Meetings = append(r.Meetings, Meeting{a.Name, b.Name, match.Counts{Wins: u.Wins, Draws: u.Draws, Losses: u.Losses}})
	}
	for k, elo := range results.Elo() {
		s := &r.Players[k]
		s.Elo, s.Games, s.Score = elo, s.Total(), s.Share()
		if l.alone() {
			s.Games, s.Points = l.points(k)
		}
	}
	slices.SortStableFunc(r.Players, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(b.Elo.Value, a.Elo.Value), cmp.Compare(b.Score, a.Score))
	})
	return r
}

// points returns the number of games of a player alone and its mean score.
func (l *Ladder) points(player int) (games int, mean *float64) {
	sum := 0
	for _, u := range l.played {
		if u.A == player {
			games++
			sum += u.Score
		}
	}
	m := float64(sum) / float64(max(games, 1))
	return games, &m
}

// meetings returns the sums over the rounds for every two players that have met.
func (l *Ladder) meetings() (out []Unit) {
	n := len(l.Players)
	sums := make([]Unit, n*n)
	add := func(a, b, wins, draws, losses int) {
		s := &sums[a*n+b]
		s.A, s.B, s.Wins, s.Draws, s.Losses = a, b, s.Wins+wins, s.Draws+draws, s.Losses+losses
	}
	for k, u := range l.played {
		if !l.alone() {
			add(u.A, u.B, u.Wins, u.Draws, u.Losses)
			continue
		}
		for _, v := range l.played[k-u.A : k] { // of the same round
			wins, losses := btoi(v.Score > u.Score), btoi(v.Score < u.Score)
			add(v.A, u.A, wins, 1-wins-losses, losses)
		}
	}
	return slices.DeleteFunc(sums, func(u Unit) bool { return u.Wins+u.Draws+u.Losses == 0 })
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
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
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	points := ""
	if len(r.Players) > 0 && r.Players[0].Points != nil {
		points = "mean points\t"
	}
	fmt.Fprintln(w, "place\tplayer\tgames\twins\tdraws\tlosses\tscore\tElo\t95 % interval\t"+points)
	for k, s := range r.Players {
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%d\t%.1f %%\t%+.0f\t%+.0f to %+.0f\t", k+1, s.Name, s.Games, s.Wins, s.Draws,
			s.Losses, 100*s.Score, s.Elo.Value, s.Elo.Low, s.Elo.High)
		if s.Points != nil {
			fmt.Fprintf(w, "%.1f\t", *s.Points)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return b.String()
}
