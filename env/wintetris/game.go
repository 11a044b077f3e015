package wintetris

import (
	"fmt"
	"strings"

	"blockyard/env"
)

// Game is WinTetris with resting places as actions, reached tick by tick.
var Game = game("wintetris", "WinTetris-v0", Placement)

// InstantGame is WinTetris with resting places as actions, reached at once.
var InstantGame = game("wintetris:instant", "WinTetrisInstant-v0", Instant)

// TickGame is WinTetris with the bits of a tick as actions.
var TickGame = game("wintetris:tick", "WinTetrisTick-v0", Ticks)

func game(name, id string, mode Mode) *env.Game {
	of := globals(mode == Ticks)
	g := &env.Game{
		Name:         name,
		ID:           id,
		Title:        "WinTetris",
		Rules:        1,
		MinSeats:     1,
		MaxSeats:     1,
		Rows:         1,
		Actions:      actions,
		MaxLegal:     MaxMoves,
		Planes:       env.Shape{C: 1, H: Height, W: Width},
		PlaneMax:     1,
		PlaneNames:   []string{"filled"},
		GlobalNames:  of.Names,
		GlobalRanges: of.Ranges,
		New:          func(seats int) env.State { return env.Start(&State{Mode: mode}, seats, 1, 1) },
		Text:         placeText,
		Parse:        parsePlace,
	}
	switch mode {
	case Instant:
		g.MaxLegal = 34
	case Ticks:
		g.Actions, g.MaxLegal = bitSets, bitSets
		g.Planes.C, g.PlaneNames = 2, []string{"filled", "piece"}
		g.Text, g.Parse = tickText, parseTick
	}
	return g
}

func placeText(a env.Action) string {
	b := target(Block{}, a)
	return fmt.Sprintf("r%d x%d", b.Rot, b.X)
}

var bitNames = [5]string{"left", "right", "cw", "ccw", "drop"}

func tickText(a env.Action) string {
	if a == 0 {
		return "wait"
	}
	var on []string
	for i, name := range bitNames {
		if a>>uint(i)&1 != 0 {
			on = append(on, name)
		}
	}
	return strings.Join(on, "+")
}

func parsePlace(s string) (env.Action, error) {
	return parse(s, actions, placeText, "resting place", "rR xX with R 0..3, X -2..8")
}

func parseTick(s string) (env.Action, error) {
	return parse(s, bitSets, tickText, "bits", "wait, or left, right, cw, ccw, drop joined by +")
}

// parse returns the action below n that text writes as s.
func parse(s string, n env.Action, text func(env.Action) string, what, want string) (env.Action, error) {
	for a := range n {
		if text(a) == s {
			return a, nil
		}
	}
	return env.None, fmt.Errorf("wintetris: %s %.40q: want %s", what, s, want)
}
