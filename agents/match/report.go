package match

import (
	"fmt"
	"strings"
)

// A TwoPlayerReport is the result of a TwoPlayer match as JSON and, with String, as text. Its
// Elo numbers are finite: see EloWithin.
type TwoPlayerReport struct {
	Game    string   `json:"game"`
	A       string   `json:"a"`
	B       string   `json:"b"`
	Seed    uint64   `json:"seed"`
	Games   int      `json:"games"`
	Wins    int      `json:"wins"`
	Draws   int      `json:"draws"`
	Losses  int      `json:"losses"`
	Score   float64  `json:"score"` // wins and half the draws, as a fraction
	Low     float64  `json:"low"`   // 95 % interval of the score
	High    float64  `json:"high"`
	Elo     float64  `json:"elo"`
	EloLow  float64  `json:"elo_low"`
	EloHigh float64  `json:"elo_high"`
	Pairs   Pairs    `json:"pairs"` // by half points won in the two games
	LLR     *float64 `json:"llr,omitempty"`
	SPRT    string   `json:"sprt,omitempty"` // undecided, H0 or H1
	Stopped bool     `json:"stopped,omitempty"`

	test *SPRT
}

// Report describes a result of t; stopped says that the match ended early.
func (t TwoPlayer) Report(r TwoPlayerResult, stopped bool) TwoPlayerReport {
	low, high := r.Pairs.Interval()
	n := r.Games()
	s := TwoPlayerReport{
		Game: t.Rules.Name, A: t.A.Name, B: t.B.Name, Seed: t.Seed,
		Games: n, Wins: r.Wins, Draws: r.Draws, Losses: r.Losses,
		Score: r.Pairs.Score(), Low: low, High: high,
		Elo: EloWithin(r.Pairs.Score(), n), EloLow: EloWithin(low, n), EloHigh: EloWithin(high, n),
		Pairs: r.Pairs, Stopped: stopped, test: t.SPRT,
	}
	if t.SPRT != nil {
		llr := t.SPRT.LLR(r.Pairs)
		s.LLR, s.SPRT = &llr, r.Verdict.String()
	}
	return s
}

// String is a table for people.
func (s TwoPlayerReport) String() string {
	text := fmt.Sprintf(`%s: %s against %s, seed %d
%sgames   %d: %d wins, %d draws, %d losses
pairs   %d lost, %d at ½, %d at 1, %d at 1½, %d won
score   %.2f %%, 95 %% interval %.2f to %.2f
Elo     %+.0f, 95 %% interval %+.0f to %+.0f
`, s.Game, s.A, s.B, s.Seed, early(s.Stopped), s.Games, s.Wins, s.Draws, s.Losses,
		s.Pairs[0], s.Pairs[1], s.Pairs[2], s.Pairs[3], s.Pairs[4],
		100*s.Score, 100*s.Low, 100*s.High, s.Elo, s.EloLow, s.EloHigh)
	if s.test != nil {
		lower, upper := s.test.Bounds()
		text += fmt.Sprintf("SPRT    Elo %g against %g: LLR %+.2f in [%.2f, %.2f]: %s\n",
			s.test.Elo0, s.test.Elo1, *s.LLR, lower, upper, s.SPRT)
	}
	return text
}

func early(stopped bool) string {
	if stopped {
		return "stopped early\n"
	}
	return ""
}

// A MultiPlayerReport is the result of a MultiPlayer match as JSON and, with String, as text.
type MultiPlayerReport struct {
	Game        string  `json:"game"`
	A           string  `json:"a"`
	B           string  `json:"b"`
	Seats       int     `json:"seats"`
	Seed        uint64  `json:"seed"`
	Sets        int     `json:"sets"`
	Games       int     `json:"games"`
	First       int     `json:"first"`
	Rank        float64 `json:"mean_rank"`
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	OthersRank  float64 `json:"others_mean_rank"`
	Score       float64 `json:"mean_points"`
	OthersScore float64 `json:"others_mean_points"`
	Stopped     bool    `json:"stopped,omitempty"`
}

// Report describes a result of m; stopped says that the match ended early.
func (m MultiPlayer) Report(r MultiPlayerResult, stopped bool) MultiPlayerReport {
	return MultiPlayerReport{
		Game: m.Rules.Name, A: m.A.Name, B: m.B.Name, Seats: m.Seats, Seed: m.Seed,
		Sets: r.Sets, Games: r.Games, First: r.First, Rank: r.Rank, Low: r.Low, High: r.High,
		OthersRank: r.OthersRank, Score: r.Score, OthersScore: r.OthersScore, Stopped: stopped,
	}
}

// String is a table for people.
func (s MultiPlayerReport) String() string {
	return fmt.Sprintf(`%s for %d: one %s among %s, seed %d
%sgames   %d in %d sets, first in %d
rank    %.3f, 95 %% interval %.3f to %.3f; the others %.3f
points  %.2f; the others %.2f
`, s.Game, s.Seats, s.A, s.B, s.Seed, early(s.Stopped), s.Games, s.Sets, s.First,
		s.Rank, s.Low, s.High, s.OthersRank, s.Score, s.OthersScore)
}

// A SinglePlayerReport is the result of a SinglePlayer match as JSON and, with String, as
// text. With two players, wins, draws and losses count seeds by score, from the view of A,
// and Score, Low, High and Difference compare the two.
type SinglePlayerReport struct {
	Game       string    `json:"game"`
	A          string    `json:"a"`
	B          string    `json:"b,omitempty"`
	Seed       uint64    `json:"seed"`
	Games      int       `json:"games"` // of each player
	Cap        int       `json:"cap,omitempty"`
	Steps      int       `json:"steps,omitempty"`
	Skip       int       `json:"skip,omitempty"`
	AStats     RunStats  `json:"a_life"`
	BStats     *RunStats `json:"b_life,omitempty"`
	Wins       int       `json:"wins"`
	Draws      int       `json:"draws"`
	Losses     int       `json:"losses"`
	Score      float64   `json:"score"` // wins and half the draws, as a fraction
	Low        float64   `json:"low"`
	High       float64   `json:"high"`
	Difference *Estimate `json:"difference,omitempty"`
	Stopped    bool      `json:"stopped,omitempty"`
}

// Report describes the runs of s, at least one per player; stopped says that the match ended
// early.
func (s SinglePlayer) Report(runs []Runs, stopped bool) SinglePlayerReport {
	r := SinglePlayerReport{
		Game: s.Rules.Name, A: s.Players[0].Name, Seed: s.Seed, Games: len(runs[0]),
		Cap: s.Cap, Steps: s.Steps, Skip: s.Skip, AStats: runs[0].Stats(), Stopped: stopped,
	}
	if len(runs) < 2 {
		return r
	}
	b, c := runs[1].Stats(), runs[0].Compare(runs[1])
	r.B, r.BStats, r.Difference = s.Players[1].Name, &b, &c.Difference
	r.Wins, r.Draws, r.Losses = c.Wins, c.Draws, c.Losses
	r.Score, r.Low, r.High = c.Share.Value, c.Share.Low, c.Share.High
	return r
}

// String is a table for people.
func (s SinglePlayerReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.Game, s.A)
	if s.B != "" {
		fmt.Fprintf(&b, " and %s, each alone", s.B)
	}
	fmt.Fprintf(&b, ", seed %d, %d games", s.Seed, s.Games)
	for _, part := range []struct {
		text string
		n    int
	}{
		{" after the first %d", s.Skip}, {", stopped at score %d", s.Cap}, {", stopped after %d choices", s.Steps},
	} {
		if part.n > 0 {
			fmt.Fprintf(&b, part.text, part.n)
		}
	}
	b.WriteString("\n" + early(s.Stopped) + s.A + "\n" + s.AStats.String())
	if s.BStats != nil {
		fmt.Fprintf(&b, `%s
%sby seed   %d wins, %d draws, %d losses of %s: score %.2f %%, 95 %% interval %.2f to %.2f
          %+.1f score a seed, 95 %% interval %+.1f to %+.1f
`, s.B, *s.BStats, s.Wins, s.Draws, s.Losses, s.A, 100*s.Score, 100*s.Low, 100*s.High,
			s.Difference.Value, s.Difference.Low, s.Difference.High)
	}
	return b.String()
}

// String is some lines of a table for people.
func (s RunStats) String() string {
	text := fmt.Sprintf(`  score     mean %.1f, 95 %% interval %.1f to %.1f; median %.1f, worst %d, best %d
  games     %d ended, %d stopped; %d choices
`, s.Mean.Value, s.Mean.Low, s.Mean.High, s.Median, s.Worst, s.Best, s.Deaths, s.Stopped, s.Steps)
	if s.Deaths == 0 {
		return text + fmt.Sprintf("  per end   none in a score of %d: above %.0f at 95 %%\n", s.Total, s.PerDeath.Low)
	}
	return text + fmt.Sprintf("  per end   score %.0f, 95 %% interval %.0f to %.0f, as if an end came at any time alike\n",
		s.PerDeath.Value, s.PerDeath.Low, s.PerDeath.High)
}
