package blockbattle

import (
	"fmt"
	"strings"

	"blockyard/env"
)

// SkipAction discards the piece. Ids below it are resting places; see the package comment.
const SkipAction env.Action = 1600

const (
	actions  = 1601
	spinBase = 800
)

func action(spin, rot, x, y int) env.Action {
	return env.Action(spin*spinBase + rot*200 + x*20 + y)
}

// Landing returns what an action, legal or None, does to seat's piece.
func (s *State) Landing(seat int, a env.Action) Landing {
	piece := int(s.Piece)
	if a < SkipAction {
		spin, rest := a/spinBase, int(a%spinBase)
		p, rot := &pieces[piece], rest/200
		return Landing{
			Piece: piece, Rot: rot, TSpin: spin == 1,
			X: rest/20%10 - p.Left[rot], Y: rest%20 - p.Low[rot],
		}
	}
	if a == SkipAction {
		return Landing{Piece: piece, X: SpawnX(piece), Y: -1, Skipped: true}
	}
	w := walker{side: &s.Sides[seat], piece: piece, at: box{SpawnX(piece), -1, 0}}
	for !w.locked {
		w.down()
	}
	return Landing{Piece: piece, X: w.at.x, Y: w.at.y, Loose: w.at.y != -1}
}

// ActionOf returns the id of a landing. It is a legal action in the round of the landing.
func ActionOf(l Landing) env.Action {
	if l.Skipped {
		return SkipAction
	}
	rot, x, y := l.Rot, l.X+pieces[l.Piece].Left[l.Rot], l.Y+pieces[l.Piece].Low[l.Rot]
	switch l.Piece {
	case I, S, Z:
		rot %= 2
	case O:
		rot = 0
	}
	spin := 0
	if l.TSpin {
		spin = 1
	}
	return action(spin, rot, x, y)
}

// Text implements env.Game.
func Text(a env.Action) string {
	switch {
	case a == SkipAction:
		return "skip"
	case a > SkipAction:
		return fmt.Sprintf("action %d", a)
	}
	spin := ""
	if a >= spinBase {
		spin = " spin"
	}
	rest := int(a % spinBase)
	return fmt.Sprintf("r%d x%d y%d%s", rest/200, rest/20%10, rest%20, spin)
}

// Parse implements env.Game.
func Parse(text string) (env.Action, error) {
	var spin, rot, x, y int
	fmt.Sscanf(text, "r%d x%d y%d", &rot, &x, &y)
	if strings.HasSuffix(text, " spin") {
		spin = 1
	}
	a := action(spin, rot, x, y)
	if text == "skip" {
		a = SkipAction
	}
	if a < actions && Text(a) == text {
		return a, nil
	}
	return env.None, fmt.Errorf("blockbattle: action %q: want skip, or rR xX yY with or without spin", text)
}
