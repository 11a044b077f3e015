package match

import (
	"context"
	"fmt"

	"blockyard/datasets/record"
)

// A TwoPlayerResult counts games and pairs from the view of A. It marshals to JSON; String is a
// table for people. The Elo numbers are finite: see EloWithin.
type TwoPlayerResult struct {
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
	Pairs   Pairs    `json:"pairs"`
	LLR     *float64 `json:"llr,omitempty"` // of the SPRT
	Verdict Verdict  `json:"sprt,omitempty"`
	Stopped bool     `json:"stopped,omitempty"` // the context ended

	test *SPRT
}

// TwoPlayer plays pairs of games between A and B: A has seat 0 in the first game of a pair and
// seat 1 in the second.
func (m Match) TwoPlayer(ctx context.Context) (TwoPlayerResult, error) {
	r := TwoPlayerResult{Game: m.Rules.Name, A: m.A.Name, B: m.B.Name, Seed: m.Seed, test: m.SPRT}
	if err := m.check(2); err != nil {
		return r, err
	}
	if m.SPRT != nil {
		r.LLR, r.Verdict = new(float64), Undecided
	}
	var failed error
	lineups := [][]entrant{{{m.A, 0}, {m.B, 1}}, {{m.B, 3}, {m.A, 2}}}
	for pair, err := range m.play(ctx, lineups) {
		if failed = err; err != nil {
			break
		}
		r.add(pair)
		m.progress(r.Games, "score %.1f %%", 100*r.Score)
		if r.Verdict == AcceptH0 || r.Verdict == AcceptH1 {
			break
		}
	}
	r.Stopped = ctx.Err() != nil
	r.Score = r.Pairs.Score()
	r.Low, r.High = r.Pairs.Interval()
	r.Elo, r.EloLow, r.EloHigh = EloWithin(r.Score, r.Games), EloWithin(r.Low, r.Games), EloWithin(r.High, r.Games)
	return r, failed
}

// add counts a pair: A has seat k in game k.
func (r *TwoPlayerResult) add(pair []*record.Record) {
	halves := 0
	for k, rec := range pair {
		switch a, b := rec.Results[k], rec.Results[1-k]; {
		case a > b:
			r.Wins++
			halves += 2
		case a < b:
			r.Losses++
		default:
			r.Draws++
			halves++
		}
	}
	r.Games += len(pair)
	r.Pairs[halves]++
	r.Score = r.Pairs.Score()
	if r.test != nil {
		llr := r.test.LLR(r.Pairs)
		r.LLR, r.Verdict = &llr, r.test.Verdict(r.Pairs)
	}
}

// String implements fmt.Stringer.
func (r TwoPlayerResult) String() string {
	text := fmt.Sprintf(`%s: %s against %s, seed %d
%sgames   %d: %d wins, %d draws, %d losses
pairs   %d lost, %d at ½, %d at 1, %d at 1½, %d won
score   %.2f %%, 95 %% interval %.2f to %.2f
Elo     %+.0f, 95 %% interval %+.0f to %+.0f
`, r.Game, r.A, r.B, r.Seed, early(r.Stopped), r.Games, r.Wins, r.Draws, r.Losses,
		r.Pairs[0], r.Pairs[1], r.Pairs[2], r.Pairs[3], r.Pairs[4],
		100*r.Score, 100*r.Low, 100*r.High, r.Elo, r.EloLow, r.EloHigh)
	if r.LLR != nil {
		lower, upper := r.test.Bounds()
		text += fmt.Sprintf("SPRT    Elo %g against %g: LLR %+.2f in [%.2f, %.2f]: %s\n",
			r.test.Elo0, r.test.Elo1, *r.LLR, lower, upper, r.Verdict)
	}
	return text
}

func early(stopped bool) string {
	if stopped {
		return "stopped early\n"
	}
	return ""
}
