package tetrisduel

import (
	"fmt"

	"blockyard/env"
)

// Game is the Tetris duel.
var Game = &env.Game{
	Name:         "tetrisduel",
	ID:           "TetrisDuel-v0",
	Title:        "Tetris Duel",
	Rules:        1,
	MinSeats:     2,
	MaxSeats:     2,
	Rows:         1,
	Actions:      actions,
	MaxLegal:     maxLegal,
	Planes:       env.Shape{C: 1, H: Height, W: Width},
	PlaneMax:     1,
	PlaneNames:   []string{"filled"},
	GlobalNames:  globalNames,
	GlobalRanges: globalRanges(),
	New: func(seats int) env.State {
		if seats != 2 {
			panic(fmt.Sprintf("tetrisduel: %d seats, want 2", seats))
		}
		s := &State{}
		s.Reset(0)
		return s
	},
	Text: func(a env.Action) string {
		p := At(a)
		return fmt.Sprintf("%d %d %d", p.Y, p.X, p.D)
	},
	Parse: func(text string) (env.Action, error) {
		var p Placement
		if n, err := fmt.Sscanf(text, "%d %d %d", &p.Y, &p.X, &p.D); n == 3 && err == nil &&
			p.Y >= 0 && p.Y < Reachable && p.X >= 0 && p.X < Width && p.D >= 0 && p.D < Directions &&
			text == fmt.Sprintf("%d %d %d", p.Y, p.X, p.D) {
			return p.Action(), nil
		}
		return env.None, fmt.Errorf("tetrisduel: placement %q: want y x d with y 0..14, x 0..9, d 0..3", text)
	},
}
