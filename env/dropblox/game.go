package dropblox

import (
	"fmt"

	"blockyard/env"
)

// Game is Dropblox.
var Game = &env.Game{
	Name:         "dropblox",
	ID:           "Dropblox-v0",
	Title:        "Dropblox",
	Rules:        1,
	MinSeats:     1,
	MaxSeats:     1,
	Rows:         1,
	Actions:      numActions,
	MaxLegal:     maxLegal,
	Planes:       env.Shape{C: 1 + Known, H: Rows, W: Cols},
	PlaneMax:     1,
	PlaneNames:   planeNames[:],
	GlobalNames:  allGlobals.Names,
	GlobalRanges: allGlobals.Ranges,
	New:          func(seats int) env.State { return env.Start(&State{}, seats, 1, 1) },
	Text:         Text,
	Parse:        Parse,
}

// Text returns an action as "row column turns" of the block's centre.
func Text(a env.Action) string {
	p := At(a)
	return fmt.Sprintf("%d %d %d", p.I, p.J, p.R)
}

// Parse is the inverse of Text.
func Parse(text string) (env.Action, error) {
	var p Placement
	fmt.Sscanf(text, "%d %d %d", &p.I, &p.J, &p.R)
	if a := p.Action(); a < numActions && Text(a) == text {
		return a, nil
	}
	return env.None, fmt.Errorf("dropblox: placement %q: want row 0..32, column 0..11, turns 0..3", text)
}
