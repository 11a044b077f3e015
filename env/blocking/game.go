package blocking

import (
	"fmt"
	"strings"

	"blockyard/env"
)

// Game is Blocking with the default shape table.
var Game = &env.Game{
	Name:        "blocking",
	ID:          "Blocking-v0",
	Rules:       1,
	MinSeats:    2,
	MaxSeats:    4,
	Rows:        1,
	Actions:     DefaultTable.Actions,
	MaxLegal:    2048,
	Planes:      env.Shape{C: numPlanes, H: Size, W: Size},
	PlaneMax:    1,
	PlaneNames:  []string{"own", "second", "third", "fourth", "connected"},
	GlobalNames: globalNames,
	New: func(seats int) env.State {
		if seats < 2 || seats > 4 {
			panic(fmt.Sprintf("blocking: %d seats, want 2 to 4", seats))
		}
		s := &State{Seats: uint8(seats)}
		s.Reset(0)
		return s
	},
	Text:  DefaultTable.Text,
	Parse: DefaultTable.Parse,
}

// Text writes an id as a letter's form and the corner of its box: "Q01 at 4,5".
func (t *Table) Text(a env.Action) string {
	o, x, y := t.Placement(a)
	return fmt.Sprintf("%c%d%d at %d,%d", 'A'+o.Letter, o.Flip, o.Turn, x, y)
}

// Parse is the inverse of Text.
func (t *Table) Parse(text string) (env.Action, error) {
	form, at, _ := strings.Cut(text, " at ")
	for i := range t.Oriented {
		o := &t.Oriented[i]
		if form != fmt.Sprintf("%c%d%d", 'A'+o.Letter, o.Flip, o.Turn) {
			continue
		}
		var x, y int
		if n, err := fmt.Sscanf(at, "%d,%d", &x, &y); n == 2 && err == nil && x >= 0 && y >= 0 &&
			x+o.W <= Size && y+o.H <= Size && at == fmt.Sprintf("%d,%d", x, y) {
			return o.Base + env.Action(y*(Size+1-o.W)+x), nil
		}
	}
	return env.None, fmt.Errorf("blocking: placement %q: want a form and its corner, such as Q01 at 4,5", text)
}
