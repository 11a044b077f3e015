package dropblox

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
)

// positions is how many positions a test compares: 100,000 if BLOCKYARD_LONG is set.
func positions() int {
	if os.Getenv("BLOCKYARD_LONG") != "" {
		return 100_000
	}
	return 3000
}

// slowRest moves the block command by command, and returns the squares that it covers where it can come to rest.
func slowRest(b Block, taken *Field) map[Field]bool {
	type at struct {
		Block
		r int
	}
	rests := map[Field]bool{}
	var seen [Turns][Cols][Rows]bool
	queue := []at{{b, 0}}
	if !b.Fits(taken) {
		return rests
	}
	for seen[0][b.Center.J][b.Center.I] = true; len(queue) > 0; queue = queue[1:] {
		for c := Left; c <= Rotate; c++ {
			next := queue[0]
			if !c.Carry(&next.Block, taken) {
				if c == Down {
					rests[covered(Field{}, &next.Block)] = true
				}
				continue
			}
			if c == Rotate {
				next.r = (next.r + 1) % Turns
			}
			if s := &seen[next.r][next.Center.J][next.Center.I]; !*s {
				*s = true
				queue = append(queue, next)
			}
		}
	}
	return rests
}

// Rest, and the legal actions as a list and as a mask, against all that the commands can do: in 100,000 positions if
// BLOCKYARD_LONG is set.
func TestRestAgainstCommands(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 9))
	var open, closed, none int
	mask := make([]byte, (numActions+63)/64*8)
	for k := range positions() {
		s := State{Taken: clutter(rng)}
		s.Blocks[0] = uint16(rng.IntN(limits[k%2*k%6]))
		b := s.Block(0)
		shape := NewShape(&b)
		var fit, rest Poses
		shape.fits(&s.Taken, &fit)
		_, sky := shape.sky(&fit, new(reached))
		want := slowRest(b, &s.Taken)
		switch {
		case len(want) == 0:
			none++
		case sky:
			open++
		default:
			closed++
		}
		require.Equal(t, len(want) > 0, shape.Rest(&s.Taken, &rest))
		legal := s.Legal(0, nil)
		require.Equal(t, rest.Actions(nil), legal)
		require.Len(t, legal, len(want), "board %d", k)
		clear(mask)
		s.MaskLegal(0, mask)
		for _, a := range legal {
			p := At(a)
			var made Field
			shape.Put(&made, p.R, p.I, p.J)
			if !want[made] || mask[a>>3]>>(a&7)&1 == 0 {
				t.Fatalf("board %d, %s: %s is out of reach or not in the mask", k, b.String(), Text(a))
			}
			for q := range p.R {
				if shape.Turn[q].Column == shape.Turn[p.R].Column {
					t.Fatalf("board %d, %s: turn %d is turn %d", k, b.String(), p.R, q)
				}
			}
			mask[a>>3] &^= 1 << (a & 7)
		}
		require.Equal(t, make([]byte, len(mask)), mask)
	}
	require.Greater(t, min(open, closed, none), positions()/30, "%d open, %d closed, %d without room", open, closed, none)
}

// The planes against the cells, in as many positions.
func TestObserveAgainstCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	got, globals := make([]uint8, Game.Planes.Len()), make([]float32, Game.Globals())
	for range positions() {
		s := State{Taken: clutter(rng), Points: int32(rng.IntN(2000)), Turns: int32(rng.IntN(2000))}
		s.Taken[rng.IntN(Cols)] |= uint64(rng.IntN(2))
		want := make([]uint8, len(got))
		for i := range Rows {
			for j := range Cols {
				want[i*Cols+j] = uint8(s.Taken[j] >> i & 1)
			}
		}
		for k := range s.Blocks {
			s.Blocks[k] = uint16(rng.IntN(limits[rng.IntN(6)]))
			b := s.Block(k)
			for _, o := range b.Cells() {
				want[((1+k)*Rows+int(b.Center.I+o.I))*Cols+int(b.Center.J+o.J)] = 1
			}
			require.Equal(t, b, newBlock(int(s.Blocks[k])))
		}
		for k := range got {
			got[k] = uint8(rng.Uint32())
		}
		s.Observe(0, got, globals)
		require.Equal(t, want, got)
		require.Equal(t, []float32{float32(s.Points), float32(s.Turns)}, globals[:2])
		for k, t2 := range s.Blocks {
			require.Equal(t, float32(SizeOf(int(t2))), globals[2+k])
		}
		require.Equal(t, float32(MeanSize(int(s.Points))), globals[2+Known])
	}
}

// A game allocates nothing.
func TestNothingIsAllocated(t *testing.T) {
	var s State
	planes, globals := make([]uint8, Game.Planes.Len()), make([]float32, Game.Globals())
	mask, legal := make([]byte, (numActions+63)/64*8), make([]env.Action, 0, maxLegal)
	require.Zero(t, testing.AllocsPerRun(300, func() {
		if s.Turns == 0 || s.Failed {
			s.Reset(uint64(s.Turns))
		}
		clear(mask)
		s.MaskLegal(0, mask)
		s.Observe(0, planes, globals)
		legal = s.Legal(0, legal[:0])
		s.Step(env.Alone(0, legal[int(s.Turns)%len(legal)]))
	}))
}
