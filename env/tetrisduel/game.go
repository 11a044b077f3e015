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
	Actions:      Actions,
	MaxLegal:     maxLegal,
	Planes:       env.Shape{C: 1, H: Height, W: Width},
	PlaneMax:     1,
	PlaneNames:   []string{"filled"},
	GlobalNames:  allGlobals.Names,
	GlobalRanges: allGlobals.Ranges,
	New:          func(seats int) env.State { return env.Start(&State{}, seats, 2, 2) },
	Text:         Text,
	Parse:        Parse,
}

// Text returns an action as "y x d".
func Text(a env.Action) string {
	p := At(a)
	return fmt.Sprintf("%d %d %d", p.Y, p.X, p.D)
}

// Parse is the inverse of Text.
func Parse(text string) (env.Action, error) {
	var p Placement
	fmt.Sscanf(text, "%d %d %d", &p.Y, &p.X, &p.D)
	if a := p.Action(); a < Actions && Text(a) == text {
		return a, nil
	}
	return env.None, fmt.Errorf("tetrisduel: placement %q: want y x d with y 0..14, x 0..9, d 0..3", text)
}
