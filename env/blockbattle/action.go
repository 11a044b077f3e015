package blockbattle

import (
	"fmt"
	"strings"

	"blockyard/env"
)

// A Token is one word of an answer (rules §4.2).
type Token uint8

// The tokens.
const (
	Left Token = iota
	Right
	Down
	TurnLeft
	TurnRight
	Drop
	Skip
)

// MaxTokens is the number of parts of an answer that are read (rules §4.4).
const MaxTokens = 41

var words = [...]string{"left", "right", "down", "turnleft", "turnright", "drop", "skip"}

// String returns the word that a bot writes.
func (t Token) String() string { return words[t] }

// ParseToken reads one word, ignoring case.
func ParseToken(word string) (Token, bool) {
	for i, w := range words {
		if strings.EqualFold(w, word) {
			return Token(i), true
		}
	}
	return 0, false
}

// ParseAnswer reads an answer line as Game and ClassicGame do (rules §4.4) and appends its tokens
// to dst. odd lists the parts that were skipped and the empty part "" that ended the reading.
func ParseAnswer(line string, dst []Token) (tokens []Token, odd []string) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	parts := strings.TrimRight(line, ",")
	if parts == "" || strings.EqualFold(line, "no_moves") {
		return dst, nil
	}
	for i, part := range strings.SplitN(parts, ",", MaxTokens+1) {
		t, ok := ParseToken(part)
		switch {
		case i == MaxTokens:
		case part == "":
			return dst, append(odd, part)
		case ok:
			dst = append(dst, t)
		default:
			odd = append(odd, part)
		}
	}
	return dst, odd
}

// ParsePortAnswer reads an answer line as PortGame does (rules §13.2): "pass" means "down", the
// line "no_moves" is one "down", and a single bad part, returned in odd, voids the whole line.
func ParsePortAnswer(line string, dst []Token) (tokens []Token, odd []string) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if strings.EqualFold(line, "no_moves") {
		return append(dst, Down), nil
	}
	tokens = dst
	for _, part := range strings.Split(line, ",") {
		t, ok := ParseToken(part)
		if strings.EqualFold(part, "pass") {
			t, ok = Down, true
		}
		if !ok {
			return dst, []string{part}
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// SkipAction discards the piece. Ids below it are resting places; see the package comment.
const SkipAction env.Action = 1600

const (
	actions  = 1601
	spinBase = 800
)

func action(spin, rot, x, y int) env.Action { return env.Action(spin*spinBase + rot*200 + x*20 + y) }

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
	land, _ := Execute(&s.Sides[seat], piece, nil, s.Rules)
	return land
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

// Text returns an action as "r2 x4 y17 spin": rotation, column and row of the box that rests, and whether the last
// token was a turn; or "skip".
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
var Parse = env.Parser(actions, Text, "blockbattle: action %q: want skip, or rR xX yY with or without spin")

// Answer implements env.Answerer with the shortest tokens that play a, "no_moves" for env.None.
func (s *State) Answer(seat int, a env.Action) string {
	tokens, _ := s.Tokens(seat, a, nil)
	return Write(tokens)
}

// Tokens appends to dst the shortest list of tokens that plays seat's legal action a. ok is false if a is not legal. It
// is a breadth-first search; a place reached by a turn differs from the same place reached otherwise.
func (s *State) Tokens(seat int, a env.Action, dst []Token) (tokens []Token, ok bool) {
	if a == SkipAction {
		return append(dst, Skip), s.Sides[seat].Skips > 0
	}
	if a == env.None {
		return dst, true
	}
	type pose struct { // a place of the box, and, if a turn led there, the orientation before that sequence of turns
		at     box
		turned bool
		before int
	}
	type answer struct {
		pose
		tokens []Token
	}
	start := answer{pose: pose{at: box{SpawnX(int(s.Piece)), -1, 0}}}
	seen := map[pose]bool{start.pose: true}
	for queue := []answer{start}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		way := p.tokens[:len(p.tokens):len(p.tokens)]
		if s.over(seat, p.at, a) {
			if way, ok := s.finish(seat, way, a); ok {
				return append(dst, way...), true
			}
		}
		for t := Left; t <= TurnRight; t++ {
			w := walker{side: &s.Sides[seat], piece: int(s.Piece), at: p.at}
			if w.do(t) || w.locked {
				continue
			}
			next := pose{at: w.at, turned: t >= TurnLeft}
			if next.turned {
				next.before = p.at.o
				if p.turned {
					next.before = p.before
				}
			}
			if !seen[next] {
				seen[next] = true
				queue = append(queue, answer{next, append(way, t)})
			}
		}
	}
	return dst, false
}

// over reports whether a piece that falls from a box comes to rest where a puts it.
func (s *State) over(seat int, at box, a env.Action) bool {
	w := walker{side: &s.Sides[seat], piece: int(s.Piece), at: at}
	w.do(Drop)
	return ActionOf(Landing{Piece: w.piece, Rot: w.at.o, X: w.at.x, Y: w.at.y})%spinBase == a%spinBase
}

// finish tries the endings with which the tokens that led over the place of a play a; without one, the piece falls.
func (s *State) finish(seat int, way []Token, a env.Action) ([]Token, bool) {
	for _, end := range [][]Token{{Drop}, nil, {Left}, {Right}, {TurnLeft}, {TurnRight}, {TurnLeft, TurnRight}} {
		tokens := append(way, end...)
		land, _ := Execute(&s.Sides[seat], int(s.Piece), tokens, s.Rules)
		if len(tokens) <= MaxTokens && !land.Loose && ActionOf(land) == a {
			return tokens, true
		}
	}
	land, _ := Execute(&s.Sides[seat], int(s.Piece), way, s.Rules)
	return way, len(way) <= MaxTokens && ActionOf(land) == a
}

// Write joins tokens to an answer line without its line feed: "no_moves" for no tokens.
func Write(tokens []Token) string {
	if len(tokens) == 0 {
		return "no_moves"
	}
	line := ""
	for _, t := range tokens {
		line += "," + t.String()
	}
	return line[1:]
}
