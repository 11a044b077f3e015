package wintetrisbot

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/wintetris"
)

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
	header, err := os.ReadFile("../../submit/wintetris/wintetris.h")
	require.NoError(t, err)
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
	for _, bit := range []string{"WT_MOVELEFT = 0x01", "WT_MOVERIGHT = 0x02", "WT_ROTATECW = 0x04", "WT_ROTATECCW = 0x08", "WT_DROP = 0x10"} {
		require.Contains(t, text, bit)
	}
}
