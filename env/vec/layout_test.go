package vec_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

func TestLayout(t *testing.T) {
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 3})
	l := envtest.Must(e.Layout())
	require.Equal(t, vec.Layout{Len: 600, Fields: []vec.Field{
		{Name: "planes", DType: "|u1", Shape: []int{6, 2, 2, 3}, Offset: 0, Len: 72},
		{Name: "globals", DType: "<f4", Shape: []int{6, 3}, Offset: 128, Len: 72},
		{Name: "legal", DType: "|u1", Shape: []int{6, 2}, Offset: 256, Len: 12},
		{Name: "seat", DType: "|u1", Shape: []int{6}, Offset: 320, Len: 6},
		{Name: "reward", DType: "<f4", Shape: []int{3, 2}, Offset: 384, Len: 24},
		{Name: "terminated", DType: "|u1", Shape: []int{3}, Offset: 448, Len: 3},
		{Name: "truncated", DType: "|u1", Shape: []int{3}, Offset: 512, Len: 3},
		{Name: "score", DType: "<i4", Shape: []int{3, 2}, Offset: 576, Len: 24},
	}}, l)

	l = envtest.Must(e.Layout("reward", "planes"))
	require.Equal(t, 152, l.Len)
	require.Equal(t, "planes", l.Fields[0].Name, "in the order of Batch")
	require.ErrorContains(t, envtest.Failed(e.Layout("planes", "colour")), `no slab "colour" under NextStep`)
	require.ErrorContains(t, envtest.Failed(e.Layout("final_planes")), "no slab")

	s, _, _ := start(t, blockbattle.Game, vec.Config{Envs: 3, Autoreset: vec.SameStep})
	l = envtest.Must(s.Layout())
	require.Len(t, l.Fields, 12)
	require.Equal(t, "final_legal", l.Fields[10].Name)
	require.Equal(t, "final_seat", l.Fields[11].Name)
}

// A view writes where the layout says and nowhere else, whatever else is wanted.
func TestViewIsTheBlock(t *testing.T) {
	slabs := map[string][]byte{}
	for _, names := range [][]string{nil, {"planes"}, {"legal", "reward"}, {"seat", "globals", "score"}} {
		e, _, actions := start(t, toy.Turns, vec.Config{Envs: 5, Autoreset: vec.SameStep})
		l := envtest.Must(e.Layout(names...))
		block := append(l.Alloc(), l.Alloc()...)
		out := envtest.Must(l.View(block[:l.Len]))
		play(t, 60, e, actions, out)
		for _, f := range l.Fields {
			slab := block[f.Offset : f.Offset+f.Len]
			if names == nil {
				slabs[f.Name] = slab
			}
			require.Equal(t, slabs[f.Name], slab, f.Name)
		}
		if names == nil {
			require.Equal(t, out.Planes, slabs["planes"])
			require.Equal(t, out.FinalLegal, slabs["final_legal"])
		}
		require.Equal(t, make([]byte, l.Len), block[l.Len:], "beyond the block")
	}
}

func TestViewRefuses(t *testing.T) {
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 2})
	l := envtest.Must(e.Layout())
	require.ErrorContains(t, envtest.Failed(l.View(make([]byte, l.Len-1))), "want")
	envtest.Must(l.View(l.Alloc()))
	require.ErrorContains(t, envtest.Failed(l.View(append(l.Alloc(), l.Alloc()...)[4:][:l.Len])), "not aligned to 8 bytes")
	l.Fields[0].Name = "colour"
	require.ErrorContains(t, envtest.Failed(l.View(l.Alloc())), `no slab "colour"`)
	nothing := envtest.Must(vec.Layout{}.View(nil))
	require.NoError(t, e.Step(slices.Repeat([]env.Action{env.None}, 4), nothing))
}
