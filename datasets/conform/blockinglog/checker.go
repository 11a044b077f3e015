// Package blockinglog compares reference cases of Blocking with package blocking: whole games (game, turn, skip and end
// by "type"), first moves with all codes that mean the same ("equivalent"), and the table of shapes (a key per letter).
// A replay takes the number of players, the letters and the answers from the transcript, and compares the rest.
package blockinglog

import (
	"fmt"
	"slices"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/blocking"
)

// New returns a checker of the reference cases of Blocking.
func New() *conform.Checker {
	games := new(conform.Series[game])
	return &conform.Checker{Tag: "type", Kinds: []conform.Kind{
		conform.Line(games, "game", begin),
		conform.Line(games, "turn", turn),
		conform.Line(games, "skip", skip),
		conform.Line(games, "end", end),
		conform.Keyed("opening", "equivalent", checkOpening),
		conform.Keyed("shape table", "A", checkShapes),
	}}
}

// openingRecord is a first move, with all letters available.
type openingRecord struct {
	Player     int      `json:"player"`
	Col        int      `json:"col"`
	Row        int      `json:"row"`
	Code       string   `json:"code"`
	Equivalent []string `json:"equivalent"`
}

func checkOpening(t *conform.Tally, v conform.Values, r *openingRecord) {
	table := blocking.DefaultTable
	listed := fmt.Sprintf("%d %d %s", r.Col, r.Row, r.Code)
	code, err := table.ParseCode(listed)
	conform.Valid(err)
	if r.Player < 0 || r.Player > 3 {
		conform.Malformed("player %d, want 0 to 3", r.Player)
	}
	t.At("player %d, opening %s", r.Player, listed)
	s := blocking.New(4, 0)
	s.Letters = 1<<blocking.Letters - 1
	s.Left = [env.MaxSeats]uint32{s.Letters, s.Letters, s.Letters, s.Letters}
	s.Turn = uint8(r.Player)
	list := conform.Each(s.List(r.Player), blocking.Code.String)
	if !conform.Same(t, "it is listed", true, slices.Contains(list, listed)) {
		return
	}
	action := table.Action(code)
	var same []string
	for c := (blocking.Code{X: r.Col, Y: r.Row, L: code.L}); c.F < 2; c.F++ {
		for c.R = 0; c.R < 4; c.R++ {
			for c.N = 1; c.N <= len(table.Shapes[c.L].Squares); c.N++ {
				if table.Action(c) == action {
					same = append(same, c.Name())
				}
			}
		}
	}
	conform.Same(t, "equivalent", strings.Join(r.Equivalent, " "), strings.Join(same, " "))
	v.Given(t, "cells", cellsOf(table, action))
}

// cellsOf lists the [column, row] of the cells that a placement covers, row by row.
func cellsOf(table *blocking.Table, a env.Action) [][]int {
	o, x, y := table.Placement(a)
	return conform.Each(o.Cells, func(c blocking.Cell) []int { return []int{x + int(c.X), y + int(c.Y)} })
}

func checkShapes(t *conform.Tally, _ conform.Values, r *map[string]conform.Values) {
	table := blocking.DefaultTable
	for name := range *r {
		if len(name) != 1 || name[0] < 'A' || name[0] >= 'A'+blocking.Letters {
			conform.Malformed("no letter %q, want A to %c", name, 'A'+blocking.Letters-1)
		}
	}
	for l := range blocking.Letters {
		name := string(rune('A' + l))
		rec, ok := (*r)[name]
		t.At("letter %s", name)
		if !conform.Same(t, "is given", ok, true) {
			continue
		}
		shape := &table.Shapes[l]
		rec.Given(t,
			"cols", shape.Cols, "rows", shape.Rows, "def", shape.Text, "squares", len(shape.Squares),
			"distinct", len(table.Forms(l)))
		var orient map[string][][]int
		rec.Read("orient", &orient)
		if orient == nil {
			continue
		}
		conform.Same(t, "orientations", len(orient), 8)
		for k := range 8 {
			form := fmt.Sprintf("%d%d", k/4, k%4)
			squares := conform.Each(table.Squares(l, k/4, k%4), func(c blocking.Cell) []int { return []int{int(c.X), int(c.Y)} })
			conform.Same(t, "orient "+form, fmt.Sprint(orient[form]), fmt.Sprint(squares))
		}
	}
}
