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
	f := finder{state: s, side: &s.Sides[seat], want: a}
	f.from = make(map[pose]step, 512)
	start := pose{at: box{SpawnX(int(s.Piece)), -1, 0}}
	f.from[start] = step{}
	for queue := []pose{start}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		if path, ok := f.ends(p); ok {
			return append(dst, path...), true
		}
		for t := Left; t <= TurnRight; t++ {
			w := walker{side: f.side, piece: int(s.Piece), at: p.at}
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
			if _, seen := f.from[next]; !seen {
				f.from[next] = step{p, t}
				queue = append(queue, next)
			}
		}
	}
	return dst, false
}

// A pose is a place of the box. If a turn led there, it includes the orientation before that
// sequence of turns.
type pose struct {
	at     box
	turned bool
	before int
}

// A step is the last step of the shortest way to a pose.
type step struct {
	from  pose
	token Token
}

// A finder searches for the shortest answer that plays one action.
type finder struct {
	state *State
	side  *Side
	want  env.Action
	from  map[pose]step
}

// ends tries the endings that make the tokens to p an answer that plays the wanted action.
func (f *finder) ends(p pose) ([]Token, bool) {
	piece := int(f.state.Piece)
	w := walker{side: f.side, piece: piece, at: p.at}
	for !w.locked {
		w.down()
	}
	there := ActionOf(Landing{Piece: piece, Rot: w.at.o, X: w.at.x, Y: w.at.y})
	if there%spinBase != f.want%spinBase {
		return nil, false
	}
	way := f.way(p)
	for _, end := range [][]Token{{Drop}, nil, {Left}, {Right}, {TurnLeft}, {TurnRight}, {TurnLeft, TurnRight}} {
		tokens := append(way[:len(way):len(way)], end...)
		if len(tokens) > MaxTokens {
			continue
		}
		if land, _ := Execute(f.side, piece, tokens, f.state.Rules); !land.Loose && ActionOf(land) == f.want {
			return tokens, true
		}
	}
	// Otherwise an answer without its last token, which leaves the piece to fall, may do.
	if land, _ := Execute(f.side, piece, way, f.state.Rules); len(way) <= MaxTokens && ActionOf(land) == f.want {
		return way, true
	}
	return nil, false
}

// way returns the tokens that led to p.
func (f *finder) way(p pose) []Token {
	var out []Token
	start := pose{at: box{SpawnX(int(f.state.Piece)), -1, 0}}
	for ; p != start; p = f.from[p].from {
		out = append([]Token{f.from[p].token}, out...)
	}
	return out
}

// Write joins tokens to an answer line without its line feed: "no_moves" for no tokens.
func Write(tokens []Token) string {
	if len(tokens) == 0 {
		return "no_moves"
	}
	line := tokens[0].String()
	for _, t := range tokens[1:] {
		line += "," + t.String()
	}
	return line
}
