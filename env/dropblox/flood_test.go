package dropblox

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// positions is how many positions a test compares.
var positions = envtest.Many(3000, 100_000)

// slowRest follows every command of the rules from where the block appears, and returns the squares that it covers where a
// drop leaves it, each with the fewest commands before that drop.
func slowRest(b Block, taken *Field) map[Field]int {
	type at struct {
		Block
		r, commands int
	}
	rests := map[Field]int{}
	var seen [Turns][Cols][Rows]bool
	queue := []at{{Block: b}}
	if !b.Fits(taken) {
		return rests
	}
	for seen[0][b.Center.J][b.Center.I] = true; len(queue) > 0; queue = queue[1:] {
		down := queue[0].Block
		down.Drop(taken)
		if made := covered(Field{}, &down); rests[made] == 0 { // the first way is the shortest
			rests[made] = queue[0].commands + 1
		}
		for c := Left; c <= Rotate; c++ {
			next := queue[0]
			if !c.Carry(&next.Block, taken) {
				continue
			}
			if next.commands++; c == Rotate {
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

// Rest, the legal actions as a list and as a mask, and Path to each of them, against all that the commands can do: in
// 100,000 positions if BLOCKYARD_LONG is set.
func TestRestAgainstCommands(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 9))
	var open, closed, none int
	for k := range positions {
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
		var mask [(numActions + 63) / 64 * 8]byte
		s.MaskLegal(0, mask[:])
		for _, a := range legal {
			mask[a>>3] ^= 1 << (a & 7)
			p := At(a)
			var made Field
			shape.Put(&made, p.R, p.I, p.J)
			require.Positive(t, want[made], "board %d, %s: %s is out of reach", k, &b, Text(a))
			require.Equal(t, a, p.Action())
			way, ok := shape.Path(&s.Taken, p, nil)
			require.True(t, ok)
			require.Len(t, way, want[made]-1, Text(a))
			led := b
			for _, c := range way {
				require.True(t, c.Carry(&led, &s.Taken))
			}
			led.Drop(&s.Taken)
			require.Equal(t, made, covered(Field{}, &led))
			for q := range p.R {
				if shape.Turn[q].Column == shape.Turn[p.R].Column {
					t.Fatalf("board %d, %s: turn %d is turn %d", k, &b, p.R, q)
				}
			}
		}
		require.Zero(t, mask, "it has the bits of the legal actions")
	}
	require.Greater(t, min(open, closed, none), positions/30, "%d open, %d closed, %d without room", open, closed, none)
}

// The planes against the cells, in as many positions.
func TestObserveAgainstCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	got, globals := make([]uint8, Game.Planes.Len()), make([]float32, Game.Globals())
	for range positions {
		s := State{Taken: clutter(rng), Points: int32(rng.IntN(2000)), Turns: int32(rng.IntN(2000))}
		s.Taken[rng.IntN(Cols)] |= uint64(rng.IntN(2))
		want, measured := make([]uint8, len(got)), []float32{float32(s.Points), float32(s.Turns)}
		for at := range Rows * Cols {
			want[at] = uint8(s.Taken[at%Cols] >> (at / Cols) & 1)
		}
		for k := range s.Blocks {
			s.Blocks[k] = uint16(rng.IntN(limits[rng.IntN(6)]))
			b := s.Block(k)
			for _, o := range b.Cells() {
				want[((1+k)*Rows+int(b.Center.I+o.I))*Cols+int(b.Center.J+o.J)] = 1
			}
			require.Equal(t, b, newBlock(int(s.Blocks[k])))
			measured = append(measured, float32(b.Size))
		}
		for k := range got {
			got[k] = uint8(rng.Uint32())
		}
		s.Observe(0, got, globals)
		require.Equal(t, want, got)
		require.Equal(t, append(measured, float32(MeanSize(int(s.Points)))), globals)
	}
}
