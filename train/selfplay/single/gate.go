package single

import (
	"context"

	"blockyard/env"
)

// A Point is what one gate found: how the net plays one choice deep, on seeds used for
// nothing else and the same in every gate.
type Point struct {
	Iterations int     `json:"iterations"`
	Rows       int     `json:"rows"`
	Loss       float64 `json:"loss"`
	Points     int     `json:"points"`   // made in all games together
	Ends       int     `json:"ends"`     // games that ended before they were stopped
	PerGame    float64 `json:"per_game"` // points a game that is not stopped would make: all points over ends, one end at the least
	Kept       bool    `json:"kept"`     // this net is now the best
	Seconds    float64 `json:"seconds"`  // of training so far
}

// gate plays the gate's games with the mean net and keeps it if none did better. ok is
// false if ctx ended before the result was there.
func (r *Run) gate(ctx context.Context) (ok bool, err error) {
	c := r.Config
	p := Point{Iterations: r.Counts.Iterations, Rows: r.Counts.Rows, Loss: r.Counts.Loss, Seconds: r.Counts.Spent.Seconds()}
	points, ends := make([]int, c.GateGames), make([]bool, c.GateGames)
	seen := r.Counts.Seen
	r.share(func(ch *chooser, i int) {
		s := r.Game.Solo.Rules.New(1)
		s.Reset(env.Derive(c.Seed^gateStream, uint64(i)))
		for n := 0; n < c.GateSteps && s.Acting() != 0 && ctx.Err() == nil; n++ {
			s.Step(env.Alone(0, ch.pick(s)))
		}
		points[i], ends[i] = s.Score(0), s.Acting() == 0
	}, c.GateGames, r.mean, false)
	r.Counts.Seen = seen // that of training alone
	if ctx.Err() != nil {
		return false, nil
	}
	for i, n := range points {
		p.Points += n
		if ends[i] {
			p.Ends++
		}
	}
	p.PerGame = float64(p.Points) / float64(max(1, p.Ends))
	p.Kept = true
	for _, q := range r.Curve {
		p.Kept = p.Kept && p.PerGame >= q.PerGame
	}
	if p.Kept {
		r.Best = r.mean
	}
	r.Curve = append(r.Curve, p)
	r.Counts.Gated++
	return true, nil
}
