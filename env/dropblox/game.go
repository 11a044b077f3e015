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
	PlaneNames:   planeNames,
	GlobalNames:  globalNames,
	GlobalRanges: globalRanges(),
	New: func(seats int) env.State {
		if seats != 1 {
			panic(fmt.Sprintf("dropblox: %d seats, want 1", seats))
		}
		s := &State{}
		s.Reset(0)
		return s
	},
	Text:  Text,
	Parse: Parse,
}

// Text returns an action as "row column turns" of the block's centre.
func Text(a env.Action) string {
	p := At(a)
	return fmt.Sprintf("%d %d %d", p.I, p.J, p.R)
}

// Parse is the inverse of Text.
func Parse(text string) (env.Action, error) {
	var p Placement
	if n, err := fmt.Sscanf(text, "%d %d %d", &p.I, &p.J, &p.R); n == 3 && err == nil &&
		p.I >= 0 && p.I < Rows && p.J >= 0 && p.J < Cols && p.R >= 0 && p.R < Turns &&
		text == fmt.Sprintf("%d %d %d", p.I, p.J, p.R) {
		return p.Action(), nil
	}
	return env.None, fmt.Errorf("dropblox: placement %q: want row 0..32, column 0..11, turns 0..3", text)
}
