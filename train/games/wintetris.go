package games

import (
	"blockyard/agents/bots/wintetrisbot"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// WinTetris is trained on lines, with the clock's obstacles in the way of every piece; WinTetrisPaper is trained
// without these, and on survival, since rows are as many as pieces allow. Its games have ten rows: on twenty, nearly
// every position is safe, and a network learns nothing from it. A network of ten rows plays on twenty, too.
var (
	WinTetris      = trainWinTetris(wintetris.Game, nil, "")
	WinTetrisPaper = trainWinTetris(wintetris.Paper10Game, wintetris.Paper20Game, wintetrisbot.Survival)
)

func trainWinTetris(g, larger *env.Game, survival string) *Game {
	return tune(New(g, wintetrisbot.Entry), func(t *Game) {
		t.Damage, t.Larger = scatterWinTetris, larger
		t.Solo = &Solo{Discount: wintetrisbot.Discount, Unit: wintetrisbot.Unit, Survival: survival}
	})
}

// scatterWinTetris fills up to two thirds of the rows but for a few cells, or none, and drops up to 15 pieces, for
// towers and shafts.
func scatterWinTetris(state env.State, r *env.Rand) {
	s := state.(*wintetris.State)
	gaps := 1 + below(r, 4)
	for y := range below(r, 7*s.Mode.Rows()/10) * below(r, 2) {
		row := uint16(1<<wintetris.Width - 1)
		for range 1 + below(r, gaps) {
			row &^= 1 << below(r, wintetris.Width)
		}
		s.Field[y] = row
	}
	var legal []env.Action
	from := below(r, 6) // above 0: pieces come down in one of the six places from there on, so that towers grow
	for n := 1 + below(r, 15); n > 0; n-- {
		legal = s.Legal(0, legal[:0])
		first, many := 0, len(legal)
		if from > 0 && many >= 12 {
			first, many = from, 6
		}
		next := *s
		next.Step(env.Alone(0, legal[first+below(r, many)]))
		if next.Acting() == 0 {
			break
		}
		*s = next
	}
	s.Lines, s.Points, s.Pieces, s.Ticks, s.Blocked = 0, 0, 0, 0, 0
}
