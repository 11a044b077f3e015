package selfplay

import (
	"math"
	"testing"

	"blockyard/agents/mlp"

	"github.com/stretchr/testify/require"
)

// sampleResult has a result with numbers of every kind.
func sampleResult() (*Result, []mlp.Tensor) {
	r := &Result{Iteration: 3, Slot: 2, Ended: 1, Moves: 9, Visited: 1 << 40,
		End: GameSlot{State: "AAAA", Word: "beef", Opponent: []uint8{0, 1, 0, 0}, Age: 5}}
	x := make([]float32, 26)
	x[0], x[7], x[8], x[25] = 1, float32(math.Copysign(0, -1)), float32(math.MaxFloat32), -.25
	return r, []mlp.Tensor{
		{Name: "x", Shape: []int{2, 13}, Data: x},
		{Name: "none", Shape: []int{0, 7}, Data: []float32{}},
		{Name: "one", Shape: []int{}, Data: []float32{4}},
	}
}

// A result is read as it was written, to the last bit. One that was cut or extended is refused.
func TestResultFiles(t *testing.T) {
	r, tensors := sampleResult()
	file := AppendResult(nil, r, tensors)
	got, numbers, err := ReadResult(file)
	require.NoError(t, err)
	require.Equal(t, r, got)
	require.Equal(t, tensors, numbers)
	require.True(t, math.Signbit(float64(numbers[0].Data[7])))
	require.Less(t, len(file), 4*27, "zeros take a bit each")
	for n := range file {
		_, _, err := ReadResult(file[:n])
		require.ErrorContains(t, err, "not a result", n)
	}
	_, _, err = ReadResult(append(file, 0))
	require.ErrorContains(t, err, "1 bytes follow the last number")
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, one := sampleResult()
		one[0].Data[3] = float32(bad)
		_, _, err = ReadResult(AppendResult(nil, r, one))
		require.ErrorContains(t, err, "is not finite")
	}
	tensors[0].Shape = []int{1 << 20, 1 << 20, 1 << 20}
	_, _, err = ReadResult(AppendResult(nil, r, tensors))
	require.ErrorContains(t, err, "tensors of more than")
	tensors[0].Shape, tensors[0].Data = []int{2, 2}, []float32{0, 0, 0, 0, 1}
	_, _, err = ReadResult(AppendResult(nil, r, tensors[:1]))
	require.ErrorContains(t, err, "truncated", "a bit for the fifth of four numbers")
}

// What ReadResult accepts is written to a file with the same content.
func FuzzResultFile(f *testing.F) {
	f.Add(AppendResult(nil, new(Result), nil))
	f.Add(AppendResult(nil, func() *Result { r, _ := sampleResult(); return r }(), func() []mlp.Tensor {
		_, t := sampleResult()
		return t
	}()))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, tensors, err := ReadResult(file)
		if err != nil {
			return
		}
		written := AppendResult(nil, r, tensors)
		again, more, err := ReadResult(written)
		require.NoError(t, err)
		require.Equal(t, r, again)
		require.Equal(t, written, AppendResult(nil, again, more))
	})
}
