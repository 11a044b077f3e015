package blocking

import (
	"fmt"
	"strings"

	"blockyard/env"
)

// Game is Blocking with the default shape table.
var Game = newGame("blocking", "Blocking-v0", DefaultTable, 0)

// With returns Blocking with another shape table, under the name "blocking:NAME". It calls Use.
func With(name string, t *Table) (*env.Game, error) {
	id, err := Use(t)
	if err != nil {
		return nil, err
	}
	return newGame("blocking:"+name, "Blocking-"+name+"-v0", t, id), nil
}

func newGame(name, id string, t *Table, table uint8) *env.Game {
	return &env.Game{
		Name:         name,
		ID:           id,
		Title:        "Blocking",
		Rules:        1,
		MinSeats:     2,
		MaxSeats:     4,
		Rows:         1,
		Actions:      t.Actions,
		MaxLegal:     2048,
		Planes:       env.Shape{C: numPlanes, H: Size, W: Size},
		PlaneMax:     1,
		PlaneNames:   []string{"own", "second", "third", "fourth", "connected"},
		GlobalNames:  allGlobals.Names,
		GlobalRanges: allGlobals.Ranges,
		New:          func(seats int) env.State { return New(seats, table) },
		Text:         t.Text,
		Parse:        t.Parse,
	}
}

// New returns a position for 2 to 4 seats after Reset(0). table is an id that Use returned.
func New(seats int, table uint8) *State {
	s := &State{Seats: uint8(seats), TableID: table}
	env.Start(s, seats, 2, 4)
	return s
}

// Text returns an id as letter, flip, rotation and the corner of the box: "Q01 at 4,5".
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
		fmt.Sscanf(at, "%d,%d", &x, &y)
		if a := o.Base + env.Action(y*(Size+1-o.W)+x); int(a) < t.Actions && t.Text(a) == text {
			return a, nil
		}
	}
	return env.None, fmt.Errorf("blocking: placement %q: want a form and its corner, such as Q01 at 4,5", text)
}
