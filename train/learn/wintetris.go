package learn

import (
	"blockyard/agents/valuenet"
	"blockyard/agents/wintetrisbot"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// WinTetris is learnt by lines, with the clock's obstacles on the way of every piece.
var WinTetris = &Game{
	Rules:    wintetris.Game,
	Features: wintetrisbot.FeatureNames,
	Own:      wintetrisbot.Len,
	Reader:   func() Reader { return wintetrisReader{} },
	Damage:   litterWinTetris,
	Shipped:  func() (*valuenet.Net, error) { return wintetrisbot.Shipped() },
	Export:   "its contest loads a shared library: go build -buildmode=c-shared -o libwintetris_solver.so ./agents/wintetrisplugin",
	Solo:     &Solo{Rules: wintetris.Game, Discount: wintetrisbot.Discount, Unit: wintetrisbot.Unit},
}

type wintetrisReader struct{}

func (wintetrisReader) Shared(env.State, int, []float32) {}

func (wintetrisReader) Own(s env.State, _ int, out []float32) {
	wintetrisbot.Look(&s.(*wintetris.State).Field, out)
}

// litterWinTetris fills up to 13 rows, each but for a few cells.
func litterWinTetris(state env.State, r *env.Rand) {
	s := state.(*wintetris.State)
	gaps := 1 + below(r, 4)
	for y := range 1 + below(r, 13) {
		row := uint16(1<<wintetris.Width - 1)
		for range 1 + below(r, gaps) {
			row &^= 1 << below(r, wintetris.Width)
		}
		s.Field[y] = row
	}
}
