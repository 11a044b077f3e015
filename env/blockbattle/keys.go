package blockbattle

import "blockyard/env"

// Answer implements env.Answerer with the shortest tokens that play a, "no_moves" for env.None.
func (s *State) Answer(seat int, a env.Action) string {
	tokens, _ := s.Tokens(seat, a, nil)
	return Write(tokens)
}

// Tokens appends to dst the shortest list of tokens that plays seat's legal action a, which is
// what a bot writes. ok is false if a is not legal. It is a breadth-first search over the places
// of the box; a place reached by a turn differs from the same place reached otherwise.
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

// finish tries the endings that make the tokens that led over the place of a an answer that plays a. Without one, the
// piece is left to fall.
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
