package games

import (
	"fmt"
	"strings"

	"blockyard/env"
)

// places name the players of a game for people, by seat.
var places = [env.MaxSeats]string{"first", "second", "third", "fourth"}

// Describe is a drawn position of g in plain text for a seat, or for nobody if there is no such seat, after a sentence
// about the turn.
func Describe(g *env.Game, frame *env.Frame, seats, seat int, turn string) string {
	who := ""
	if seats > 1 && seat < seats {
		who = fmt.Sprintf("you are the %s of %d players. ", places[seat], seats)
	}
	return fmt.Sprintf("%s: %s%s\n%s%s", g.ID, who, turn, frame, trayText(frame))
}

// trayText shows the trays that no seat owns, such as the next pieces. Those of a seat are in the notes.
func trayText(frame *env.Frame) string {
	var out strings.Builder
	for _, t := range frame.Trays {
		if t.Seat == env.Everybody && len(t.Pieces) > 0 {
			pieces := env.Frame{Boards: t.Pieces}
			fmt.Fprintf(&out, "%s:\n%s", t.Name, strings.TrimLeft(pieces.String(), "\n"))
		}
	}
	return out.String()
}
