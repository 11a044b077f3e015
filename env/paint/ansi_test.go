package paint_test

import (
	"testing"

	"blockyard/env"
	"blockyard/env/paint"

	"github.com/stretchr/testify/require"
)

func TestANSI(t *testing.T) {
	var f env.Frame
	b := f.Add("a name that is long", 2, 2)
	b.Set(0, 0, env.Cell{Kind: env.CellPiece, Letter: 'T', Ink: 6})
	b.Set(1, 0, env.Cell{Kind: env.CellZone})
	b.Set(0, 1, env.Cell{Ink: 2})                                    // a tint
	b.Set(1, 1, env.Cell{Kind: env.CellGhost, Letter: 'T', Ink: 17}) // inks are taken modulo 16
	f.Add("b", 1, 1)
	f.Note("round 1")
	require.Equal(t, "a name that is long   b    \n"+
		"\x1b[7;38;5;201mT \x1b[0m:    .    \n"+
		"\x1b[38;5;21m. \x1b[0m\x1b[7;38;5;51mt \x1b[0m        \n"+
		"round 1\n", paint.ANSI(&f))
	require.Empty(t, paint.ANSI(&env.Frame{Notes: nil})[1:], "an empty frame is an empty line")
}
