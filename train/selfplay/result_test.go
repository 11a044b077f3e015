package selfplay

import (
	"math"
	"os"
	"strconv"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/env/envtest"

	"github.com/klauspost/compress/zstd"
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

func appendResult(r *Result, tensors []mlp.Tensor) []byte {
	return envtest.Must(AppendResult(nil, r, tensors))
}

// A result is read as it was written, to the last bit. One that was cut or extended is refused.
func TestResultFiles(t *testing.T) {
	r, tensors := sampleResult()
	file := appendResult(r, tensors)
	require.Equal(t, file, appendResult(r, tensors))
	got, numbers := envtest.Must2(ReadResult(file))
	require.Equal(t, r, got)
	require.Equal(t, tensors, numbers)
	require.True(t, math.Signbit(float64(numbers[0].Data[7])))
	for n := range file {
		require.ErrorContains(t, envtest.Failed2(ReadResult(file[:n])), "not a result", n)
	}
	require.ErrorContains(t, envtest.Failed2(ReadResult(append(file, 0))), "not a result")
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, one := sampleResult()
		one[0].Data[3] = float32(bad)
		require.ErrorContains(t, envtest.Failed2(ReadResult(appendResult(r, one))), "is not finite")
	}
	r.Moves = -1
	require.ErrorContains(t, envtest.Failed2(ReadResult(appendResult(r, tensors))), "below 0")
	_, err := AppendResult(nil, r, []mlp.Tensor{{Name: "x", Shape: []int{2, 2}, Data: []float32{0, 0, 0, 0, 1}}})
	require.ErrorContains(t, err, "5 numbers for shape")
}

// A position's features, most of them 0, take far less than their four bytes each, and no file takes more memory than
// a result may.
func TestResultsAreSmall(t *testing.T) {
	zeros := []mlp.Tensor{{Name: "x", Shape: []int{4000, 200}, Data: make([]float32, 800_000)}}
	require.Less(t, len(appendResult(new(Result), zeros)), 10_000)
	large := squeeze.EncodeAll(make([]byte, 2*mostResult), nil)
	require.ErrorIs(t, envtest.Failed2(ReadResult(large)), zstd.ErrDecoderSizeExceeded)
}

// What ReadResult accepts is written to a file with the same content.
func FuzzResultFile(f *testing.F) {
	f.Add(appendResult(new(Result), nil))
	r, tensors := sampleResult()
	f.Add(appendResult(r, tensors))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, tensors, err := ReadResult(file)
		if err != nil {
			return
		}
		written := appendResult(r, tensors)
		again, more := envtest.Must2(ReadResult(written))
		require.Equal(t, r, again)
		require.Equal(t, written, appendResult(again, more))
	})
}

// TestTheVersionInTheProtocol: the table of versions names that of saved runs.
func TestTheVersionInTheProtocol(t *testing.T) {
	page := envtest.Must(os.ReadFile("../../rpc/PROTOCOL.md"))
	require.Contains(t, string(page), "| a saved training run | in its metadata | "+strconv.Itoa(stateVersion)+" |")
}
