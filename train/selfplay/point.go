package selfplay

import (
	"fmt"
	"slices"
)

// A Point is what one gate found.
type Point struct {
	Iterations int     `json:"iterations"`
	Rows       int     `json:"rows"`
	Loss       float64 `json:"loss"`
	Games      int     `json:"games,omitempty"`       // played for Score
	Score      float64 `json:"score,omitempty"`       // against the baseline, 0 to 1; for one seat points per game
	Low        float64 `json:"low,omitempty"`         // of its 95 % interval
	High       float64 `json:"high,omitempty"`        // 0 if there is no upper bound
	VersusBest float64 `json:"versus_best,omitempty"` // against the best net so far; 0.5 if there was none
	Points     int     `json:"points,omitempty"`      // for one seat: points made in all games together
	Ends       int     `json:"ends,omitempty"`        // and games that ended before they were stopped
	PerGame    float64 `json:"per_game,omitempty"`    // all points over ends, one end at the least
	Kept       bool    `json:"kept"`                  // this net is now the best
	Seconds    float64 `json:"seconds"`               // of training so far
}

// value returns the score and its interval, or a bar of no length where there is none. A
// score of points per game is drawn as at least 1.
func (p Point) value() (y, low, high float64) {
	if y = p.Score; p.PerGame > 0 {
		y = max(p.PerGame, 1)
	}
	if low, high = p.Low, p.High; high <= 0 {
		return y, y, y
	}
	return y, min(y, low), max(y, high)
}

// A LossPoint is the loss of one iteration.
type LossPoint struct {
	Iteration int     `json:"i"`
	Rows      int     `json:"rows"`
	Loss      float64 `json:"loss"`
}

// maxLosses is how many losses a run keeps, evenly spaced over its iterations.
const maxLosses = 512

func (r *Run) noteLoss() {
	n, stride := r.Counts.Iterations, 1
	for n/stride > maxLosses {
		stride *= 2
	}
	skipped := func(p LossPoint) bool { return p.Iteration%stride != 0 }
	if p := (LossPoint{n, r.Counts.Rows, r.Counts.Loss}); p.Rows > 0 && !skipped(p) {
		r.Losses = append(slices.DeleteFunc(r.Losses, skipped), p)
	}
}

// LastScore is the score of the last gate.
func (r *Run) LastScore() string {
	if len(r.Curve) == 0 {
		return "no gate yet"
	}
	p := r.Curve[len(r.Curve)-1]
	if r.Game.Solo != nil {
		return fmt.Sprintf("%.0f points per game", p.PerGame)
	}
	return fmt.Sprintf("vs hand %.1f%%", 100*p.Score)
}

// LastGate sums up the last gate in a line.
func (r *Run) LastGate() string {
	p := r.Curve[len(r.Curve)-1]
	text := fmt.Sprintf("gate %d of %d: %d games, %s rows, loss %.4f, ", r.Counts.Gated, r.Options.Gates,
		r.Counts.Games, thousands(p.Rows), p.Loss)
	if r.Game.Solo != nil {
		text += fmt.Sprintf("%d points in %d games, %d ended: %s", p.Points, p.Games, p.Ends, r.LastScore())
	} else {
		best := "no best yet"
		if len(r.Curve) > 1 {
			best = fmt.Sprintf("vs best %.1f%%", 100*p.VersusBest)
		}
		text += fmt.Sprintf("%s (%.1f to %.1f) of %d games, %s", r.LastScore(), 100*p.Low, 100*p.High, p.Games, best)
	}
	if p.Kept {
		text += "  kept"
	}
	return text
}

// thousands writes a large number short.
func thousands(n int) string {
	if n < 1e6 {
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
