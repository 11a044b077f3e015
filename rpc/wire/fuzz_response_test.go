package wire

import (
	"bufio"
	"bytes"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// FuzzReadResponse reads any bytes as a response, for every kind of result that a client asks for: an error or a
// result, the same however the bytes arrive, and memory in proportion to the bytes, whatever lengths they claim.
func FuzzReadResponse(f *testing.F) {
	for _, result := range []any{
		true, Fields{"h", 1, "layout", []map[string]any{{"name": "mask", "shape": []int{1, 2}}}, "slab", []byte{1, 2, 3}},
	} {
		pieces, err := Result(7, result)
		require.NoError(f, err)
		f.Add(bytes.Join(pieces, nil))
	}
	refusal, err := Failure(9, Exceeds("max_envs", 1, 2, "--max-envs"))
	require.NoError(f, err)
	f.Add(refusal)
	f.Add([]byte{0x94, 1, 7, 0xc0, 0xc6, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{0x94, 1, 7, 0xc0, 0x81, 0xa6, 'l', 'a', 'y', 'o', 'u', 't', 0xdd, 0x7f, 0xff, 0xff, 0xff})
	f.Add([]byte{0x94, 1, 7, 0xdf, 0x7f, 0xff, 0xff, 0xff, 0xa1, 'x'})
	type field struct {
		Name  string `msgpack:"name"`
		Shape []int  `msgpack:"shape"`
	}
	type games struct {
		H      uint32  `msgpack:"h"`
		Len    int     `msgpack:"slab_len"`
		Layout []field `msgpack:"layout"`
		Slab   []byte  `msgpack:"slab"`
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, into := range []func() any{
			func() any { return nil }, func() any { return new(games) }, func() any { return new([]byte) },
			func() any { return new(any) }, func() any { return new(map[string]any) },
		} {
			whole := into()
			var id uint32
			var failure *Error
			var err error
			used := cost(func() { id, failure, err = ReadResponse(bufio.NewReader(bytes.NewReader(b)), whole) })
			require.Less(t, used, uint64(4<<20+1000*len(b)), "%T of %d bytes", whole, len(b))
			pieces := into()
			id2, failure2, err2 := ReadResponse(bufio.NewReader(iotest.HalfReader(bytes.NewReader(b))), pieces)
			require.Equal(t, err == nil, err2 == nil, "%v, in pieces %v", err, err2)
			if err == nil {
				require.Equal(t, id, id2)
				require.Equal(t, failure == nil, failure2 == nil)
			}
		}
	})
}

// cost is how much memory a call allocates.
func cost(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
