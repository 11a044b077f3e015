package blockbattle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
)

// slowLegal is the judge of Legal: it walks every answer the tokens can spell, up to what
// the rules can tell apart, and plays each through Execute.
func slowLegal(s *State, seat int) []env.Action {
	type key struct {
		at           box
		turned       bool // the last token was a turn
		before       int  // orientation before the run of turns
		long         bool // two tokens or more
		previousTurn bool
	}
	type node struct {
		tokens []Token
	}
	side, piece := &s.Sides[seat], int(s.Piece)
	found := map[env.Action]bool{}
	seen := map[key]bool{}
	queue := []node{{}}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for t := Left; t <= Skip; t++ {
			tokens := append(slices.Clone(n.tokens), t)
			if len(tokens) > MaxTokens {
				continue
			}
			for _, answer := range [][]Token{n.tokens, tokens} {
				land, _ := Execute(side, piece, answer, s.Rules)
				found[ActionOf(land)] = true
			}
			w := walker{side: side, piece: piece, at: box{spawnX(piece), -1, 0}}
			k := key{}
			for i, u := range tokens {
				next := w.at
				turn := false
				switch u {
				case Left:
					next.x--
				case Right:
					next.x++
				case TurnLeft:
					next.o, turn = (next.o+3)%4, true
				case TurnRight:
					next.o, turn = (next.o+1)%4, true
				case Down:
					next.y++
				default:
					w.locked = true
				}
				if w.locked || u <= Down && w.hits(next, true) {
					if u <= Right {
						w.down()
					} else if u == Down {
						w.locked = true
					}
				} else if turn && w.hits(next, true) {
					next = w.at
				}
				if turn && !k.turned {
					k.before = w.at.o
				}
				k.previousTurn = k.turned
				if !w.hits(next, true) && u != Drop && u != Skip && !w.locked && (turn || u == Down || !w.hits(next, true)) {
					if u > Right || !w.hits(next, true) {
						w.at = moved(w.at, next, u)
					}
				}
				k.turned, k.long = turn, i > 0
				if w.locked {
					break
				}
			}
			if w.locked {
				continue
			}
			k.at = w.at
			if !k.turned {
				k.before = 0
			}
			if seen[k] {
				continue
			}
			seen[k] = true
			queue = append(queue, node{tokens})
		}
	}
	var out []env.Action
	for a := range found {
		out = append(out, a)
	}
	slices.Sort(out)
	return out
}
