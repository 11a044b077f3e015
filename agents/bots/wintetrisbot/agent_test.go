package wintetrisbot

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

// TestTickByTickAndByPlace plays the same games by bits and by places.
func TestTickByTickAndByPlace(t *testing.T) {
	for name, rater := range raters(t) {
		for seed := uint64(8); seed < 13; seed++ {
			var ends []wintetris.Engine
			for _, g := range []*env.Game{wintetris.Game, wintetris.TickGame} {
				s := envtest.Start[*wintetris.State](g, 1, seed)
				a := NewAgent(NewSolver(rater, wintetris.Parts))
				for s.Acting() != 0 && s.Pieces < 150 {
					choice := envtest.Must(a.Act(t.Context(), s, 0))
					require.NoError(t, env.Apply(g, s, env.Alone(0, choice)))
				}
				s.Rand = env.Rand{} // what the last step drew is told differently
				ends = append(ends, s.Engine)
			}
			require.Equal(t, ends[0], ends[1], "%s, seed %d", name, seed)
		}
	}
}

// TestSolverSurvivesItsHost: a solver asked out of turn, or about what cannot be, answers with
// no bits, and never with a conflict.
func TestSolverSurvivesItsHost(t *testing.T) {
	s := NewSolver(NewHand(Demo), wintetris.Parts)
	var f wintetris.Field
	now, next := wintetris.Spawn(3), wintetris.Spawn(4)
	require.Zero(t, s.Update(&f, now, next, false), "no first tick was seen")
	for y := range f[:wintetris.Height] {
		f[y] = 1<<wintetris.Width - 2
	}
	require.Zero(t, s.Update(&f, now, next, true), "the piece does not fit")
	for range 9 {
		require.Zero(t, s.Update(&f, now, next, false))
	}
	_, _, ok := s.Target()
	require.False(t, ok)
	s.begin(&f, now)
	_, ok = s.choose(&f, next.Kind, search.Clock{})
	require.False(t, ok)

	e := wintetris.Engine{Strict: true}
	e.Start(10)
	for e.Over == wintetris.Running {
		ask(&e, s)
	}
	require.Equal(t, wintetris.BlockOut, e.Over)
	require.EqualValues(t, 15, e.Lines)
}

func TestShippedNetIsStrong(t *testing.T) {
	var e wintetris.Engine
	e.Start(77)
	s := NewSolver(raters(t)["learned"], wintetris.Parts)
	for e.Over == wintetris.Running && e.Lines < 400 { // what hand reaches on average
		ask(&e, s)
	}
	require.GreaterOrEqual(t, e.Lines, int32(400))
}

// flat writes a block as the C interface has it: kind, rotation, column, and the top row from the top.
func flat(b wintetris.Block) string {
	return fmt.Sprint(b.Kind, " ", b.Rot, " ", b.X, " ", wintetris.Height-int(b.Y)-wintetris.Size(b.Kind))
}

// TestRulesDialogue plays the calls of RULES.md.
func TestRulesDialogue(t *testing.T) {
	var e wintetris.Engine
	e.Start(1)
	s := NewSolver(NewHand(Demo), wintetris.Parts)
	for tick, row := range book(t).Table(t, "dialogue") {
		now, next, fresh := e.Piece, e.Upcoming(), e.New
		bits := s.Update(&e.Field, now, next, fresh)
		e.Tick(bits)
		require.Equal(t, map[string]string{
			"tick": fmt.Sprint(tick + 1), "current: kind rotation x y": flat(now), "next: kind rotation x y": flat(next),
			"new_piece": map[bool]string{true: "1", false: "0"}[fresh], "answer": fmt.Sprint(uint8(bits)),
		}, row)
	}
}

// TestRulesInterface compares the functions and structs of RULES.md with the header.
func TestRulesInterface(t *testing.T) {
	header := envtest.Must(os.ReadFile("../../submit/wintetris/wintetris.h"))
	text := strings.Join(strings.Fields(string(header)), " ")
	functions := strings.Count(string(header), "WT_API int")
	for _, line := range book(t).Blocks(t, "header")[0] {
		if strings.Contains(line, "(") {
			line = "WT_API " + line
			functions--
		}
		require.Contains(t, text, line)
	}
	require.Zero(t, functions, "functions of the header that RULES.md does not have")
	envtest.Has(t, text, "WT_MOVELEFT = 0x01", "WT_MOVERIGHT = 0x02", "WT_ROTATECW = 0x04", "WT_ROTATECCW = 0x08",
		"WT_DROP = 0x10")
}
