package blockbattle

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/falling"
)

// slowLegal is the judge of Legal: it plays every answer, as far as the rules can tell answers
// apart, token by token. For each outcome it plays one answer again through Execute.
func slowLegal(t *testing.T, s *State, seat int) []env.Action {
	type key struct {
		at     box
		turned bool // the last token was a turn
		before int  // the orientation before the run of turns
	}
	type answer struct {
		tokens []Token
		w      walker // after the tokens
		trace  []done // of the tokens
	}
	side, piece := &s.Sides[seat], int(s.Piece)
	found := map[env.Action]bool{}
	seen := map[key]bool{}
	play := func(a answer, r run) {
		land := a.w.land(&r, s.Rules)
		if !found[ActionOf(land)] {
			found[ActionOf(land)] = true
			again, _ := Execute(side, piece, a.tokens, s.Rules)
			require.Equal(t, again, land)
		}
	}
	start := answer{w: walker{side: side, piece: piece, at: box{SpawnX(piece), -1, 0}}}
	play(start, run{})
	var next answer // overwritten again and again
	for queue := []answer{start}; len(queue) > 0; queue = queue[1:] {
		if len(queue[0].tokens) == MaxTokens {
			continue
		}
		for token := Left; token <= Skip; token++ {
			next.w = queue[0].w
			next.tokens = append(append(next.tokens[:0], queue[0].tokens...), token)
			r := next.w.run(next.tokens[len(next.tokens)-1:])
			next.trace = append(append(next.trace[:0], queue[0].trace...), r.trace...)
			r.trace = next.trace
			play(next, r)
			if next.w.locked || token == Skip {
				continue
			}
			k := key{at: next.w.at}
			for i := len(r.trace) - 1; i >= 0 && (r.trace[i].token == TurnLeft || r.trace[i].token == TurnRight); i-- {
				k.turned, k.before = true, r.trace[i].before.o
			}
			if !seen[k] {
				seen[k] = true
				queue = append(queue, answer{slices.Clone(next.tokens), next.w, slices.Clone(next.trace)})
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// randomState makes a position with a random board: ragged stacks, caves, garbage, solid
// rows, T-slots now and then.
func randomState(r *rand.Rand, rules Rules) *State {
	for {
		s := &State{Rules: rules, Winner: Nobody, Round: 1 + r.Int32N(40)}
		s.Piece, s.Next = uint8(r.IntN(Pieces)), uint8(r.IntN(Pieces))
		if r.IntN(3) == 0 {
			s.Piece = T
		}
		s.Seed(r.Uint64())
		for i := range s.Sides {
			d := &s.Sides[i]
			d.Solid = uint8(r.IntN(6))
			d.Points, d.Combo, d.Skips = r.Int32N(50), r.Int32N(4), r.Int32N(3)%2
			top := 1 + r.IntN(d.floor()-1)
			density := 1 + r.IntN(9)
			for y := top; y < d.floor(); y++ {
				for x := 0; x < Width; x++ {
					if r.IntN(10) < density {
						d.Cells.Set(x, y)
					}
				}
				if hole := r.IntN(Width); d.Cells.Full(Width)>>uint(y)&1 != 0 || r.IntN(3) == 0 {
					d.Cells[hole] &^= 1 << uint(y)
				}
			}
		}
		if r.IntN(2) == 0 {
			slot(r, &s.Sides[r.IntN(2)])
		}
		if s.Check() == nil {
			return s
		}
	}
}

// slot digs a T-slot, whole or spoilt, into a side: a stem, the arms over it, a way in from
// above and perhaps a shoulder over one arm.
func slot(r *rand.Rand, d *Side) {
	x, y := 1+r.IntN(Width-2), d.floor()-1-r.IntN(4)
	clear := func(x int, from uint64) { d.Cells[x] &^= 1<<uint(y-1) - 1 | from }
	for c := range d.Cells[:Width] {
		d.Cells[c] |= 3 << uint(y-1) & d.rows()
	}
	clear(x-1, 1<<uint(y-1))
	clear(x, 3<<uint(y-1))
	clear(x+1, 1<<uint(y-1))
	if side := r.IntN(3) - 1; side != 0 {
		d.Cells.Set(x+side, y-2)
	}
	d.Cells[(x+5)%Width] &^= uint64(r.IntN(4)) << uint(y-1)
}

// TestLegalIsEveryOutcomeOfEveryAnswer compares 480 boards and, if BLOCKYARD_LONG is set, 102,000.
func TestLegalIsEveryOutcomeOfEveryAnswer(t *testing.T) {
	for _, rules := range []Rules{Document, Classic, Port} {
		r := rand.New(rand.NewPCG(1, uint64(rules)))
		spins := 0
		for range envtest.Many(80, 17_000) {
			s := randomState(r, rules)
			for seat := range s.Sides {
				want := slowLegal(t, s, seat)
				got := s.Legal(seat, nil)
				require.Equal(t, want, got, "rules %b seat %d\n%s", rules, seat, envtest.Frame(s))
				var mask [(actions + 63) / 64 * 8]byte
				s.MaskLegal(seat, mask[:])
				for _, a := range got {
					mask[a>>3] ^= 1 << (a & 7)
					if a >= spinBase && a != SkipAction {
						spins++
					}
				}
				require.Zero(t, mask, "it has the bits of the legal actions")
			}
		}
		require.Greater(t, spins, 25, "the boards must offer T-spins")
	}
}

func TestAnswerPlaysTheAction(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for i := range 90 {
		s := randomState(r, []Rules{Document, Classic, Port}[i%3])
		for _, a := range s.Legal(0, nil) {
			tokens, ok := s.Tokens(0, a, nil)
			require.True(t, ok, "%s\n%s", Text(a), envtest.Frame(s))
			require.LessOrEqual(t, len(tokens), MaxTokens)
			parsed, odd := ParseAnswer(Write(tokens), nil)
			require.Empty(t, odd)
			land, _ := Execute(&s.Sides[0], int(s.Piece), parsed, s.Rules)
			require.Equal(t, Text(a), Text(ActionOf(land)), "%v\n%s", tokens, envtest.Frame(s))
			require.Equal(t, Write(tokens), s.Answer(0, a))
		}
		_, ok := s.Tokens(0, 799, nil)
		require.Equal(t, ok, slices.Contains(s.Legal(0, nil), 799))
	}
}

// Boards on which a piece has few ways, or long ones.
func TestLegalOnNarrowWays(t *testing.T) {
	for name, rows := range map[string]string{
		"shelves, open at alternating ends: nine shifts a floor": strings.Repeat(
			"#######... .......... .......... ...####### .......... .......... ", 3),
		"towers at both sides of where the piece appears": strings.Repeat("###....### ", 20),
	} {
		s := drawn(t, "I", rows)
		for p := range Pieces {
			s.Piece = uint8(p)
			require.NotEmpty(t, s.Legal(0, nil))
			require.Equal(t, slowLegal(t, s, 0), s.Legal(0, nil), "%s: piece %c", name, Letters[p])
		}
	}
}

// reachBoxes is Piece.Reach box by box.
func reachBoxes(d *Side, piece int) (out [4]falling.Boxes) {
	w := walker{side: d, piece: piece}
	seen := map[box]bool{}
	queue := []box{{SpawnX(piece), -1, 0}}
	for ; len(queue) > 0; queue = queue[1:] {
		b := queue[0]
		if seen[b] || w.hits(b, true) {
			continue
		}
		seen[b] = true
		out[b.o][(b.x+2)/3] |= 1 << ((b.x+2)%3*21 + b.y + 1)
		queue = append(queue, box{b.x - 1, b.y, b.o}, box{b.x + 1, b.y, b.o}, box{b.x, b.y + 1, b.o})
		if piece != O {
			queue = append(queue, box{b.x, b.y, (b.o + 1) % 4}, box{b.x, b.y, (b.o + 3) % 4})
		}
	}
	return out
}

// TestReachAgainstBoxes compares 6,000 boards and, if BLOCKYARD_LONG is set, 120,000.
func TestReachAgainstBoxes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range envtest.Many(3000, 60_000) {
		s := randomState(r, Document)
		piece := int(s.Piece)
		for seat := range s.Sides {
			d := &s.Sides[seat]
			var free, reach [4]falling.Boxes
			pieces[piece].Reach(&d.Cells, d.floor(), &free, &reach)
			if want := reachBoxes(d, piece); want != reach {
				require.Equal(t, want, reach, "seat %d\n%s", seat, envtest.Frame(s))
			}
		}
	}
}

// The threat is what rounds report at most, and an action survives it exactly if the seat is still there after the
// round in which the opponent sends that many rows. Cells of the rows themselves are in the way only at the very top.
func TestThreat(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	survived := map[bool]int{}
	for range 300 {
		s := randomState(rng, Document)
		theirs := s.Legal(1, nil)
		most, strongest := 0, theirs[0]
		for _, b := range theirs {
			next, rep := *s, Report{}
			lands := [2]Landing{s.Landing(0, s.Legal(0, nil)[0]), s.Landing(1, b)}
			next.Play(&lands, &rep)
			if rep.Sides[1].Lines > most && next.Sides[1].Lost != LostOverflow {
				most, strongest = rep.Sides[1].Lines, b
			}
		}
		require.Equal(t, most, s.Threat(1, theirs))
		for _, a := range s.Legal(0, nil) {
			after, next := *s, *s
			after.After(0, a)
			if after.Over || int(after.Sides[0].Solid)+most > Height-4 {
				continue
			}
			lands := [2]Landing{s.Landing(0, a), s.Landing(1, strongest)}
			next.Play(&lands, nil)
			if lost := next.Sides[1].Lost; lost != NotLost && lost != LostSpawn {
				continue // then no piece appears
			}
			alive := next.Sides[0].Lost == NotLost
			require.Equal(t, alive, after.Survives(0, most), "%s", Text(a))
			survived[alive]++
		}
	}
	require.Greater(t, survived[true], 500)
	require.Greater(t, survived[false], 50)
}
