package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"

	"blockyard/env/envtest"
)

// FuzzScanner holds the scanner to the library's idea of where a value ends, and to the same verdict however the bytes
// arrive. It never asks for more bytes than the value has.
func FuzzScanner(f *testing.F) {
	for _, all := range bombs {
		for _, bomb := range all {
			if len(bomb) < 10_000 {
				f.Add(bomb)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		b := envtest.Must(msgpack.Marshal(value(r, 2)))
		f.Add(append(b, 0xc1, 0xc1))
	}
	f.Add(appendStep(nil, 1, 1, []byte{1, 2}))
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 20
		whole, done, need, err := scanWhole(b, limit)
		var s scanner
		for n := 0; n <= len(b); n++ {
			d, want, e := s.next(b[:n], limit)
			if e != nil {
				require.Error(t, err, "refused in pieces, not at once")
				return
			}
			if d {
				require.True(t, done)
				require.Equal(t, whole.pos, s.pos)
				break
			}
			require.Greater(t, want, n)
			if done {
				require.LessOrEqual(t, want, whole.pos)
			}
		}
		require.NoError(t, err, "refused at once, not in pieces")
		if !done {
			require.Greater(t, need, len(b))
			return
		}
		require.LessOrEqual(t, whole.pos, limit)
		require.Equal(t, whole.pos, skip(b))
		d := msgpack.NewDecoder(bytes.NewReader(b[:whole.pos]))
		require.NoError(t, d.Skip())
		_, err = d.PeekCode()
		require.Equal(t, io.EOF, err, "the library sees another end")
	})
}

// FuzzMessage reads any bytes as messages and asks them for everything a server may ask.
func FuzzMessage(f *testing.F) {
	f.Add(appendStep(nil, 1, 1, []byte{1, 2}))
	for _, params := range [][]any{
		{map[string]any{"proto": []int{3, 0}, "client": "x"}},
		{"blockbattle", map[string]any{
			"num_envs": 5, "opponents": map[int]string{1: "random"}, "seeds": []byte{1}, "fields": []string{"mask"},
		}},
		{1, nil, []byte{1, 2, 3}, map[string]any{"reseed": 7}},
	} {
		b := envtest.Must(AppendRequest(nil, 1, "open", params...))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(iotest.HalfReader(bytes.NewReader(b)))
		r.Limit = func(method []byte) int { return 1 << 16 }
		var frame Frame
		total := 0
		for {
			err := r.Next(&frame)
			var refusal *Error
			if errors.As(err, &refusal) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return
			}
			require.NoError(t, err)
			total += frame.size
			require.LessOrEqual(t, total, len(b))
			ask(t, &frame)
		}
	})
}

func ask(t *testing.T, f *Frame) {
	for i := range MaxArgs + 1 {
		n := f.Int(i, "x", 0, 1<<40)
		require.True(t, n >= 0 && n <= 1<<40)
		_ = f.Err()
		f.Str(i, "x")
		_ = f.Err()
		f.Bin(i, "x")
		_ = f.Err()
		var o struct {
			Proto     []int64          `msgpack:"proto"`
			Client    string           `msgpack:"client"`
			Opponents map[int64]string `msgpack:"opponents"`
			Fields    []string         `msgpack:"fields"`
			Seed      *uint64          `msgpack:"seed"`
			Seeds     []byte           `msgpack:"seeds"`
			NumEnvs   int64            `msgpack:"num_envs"`
		}
		err := f.Options(i, &o)
		var refusal *Error
		if err != nil {
			require.ErrorAs(t, err, &refusal)
		}
	}
}

// FuzzReadResponse reads any bytes as a response, for every kind of result that a client asks for: an error or a
// result, the same however the bytes arrive, and memory in proportion to the bytes, whatever lengths they claim.
func FuzzReadResponse(f *testing.F) {
	for _, result := range []any{
		true, Fields{"h", 1, "layout", []map[string]any{{"name": "mask", "shape": []int{1, 2}}}, "slab", []byte{1, 2, 3}},
	} {
		pieces := envtest.Must(Result(7, result))
		f.Add(bytes.Join(pieces, nil))
	}
	refusal := envtest.Must(Failure(9, Exceeds("max_envs", 1, 2, "--max-envs")))
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
			used := envtest.Allocated(func() { id, failure, err = ReadResponse(bufio.NewReader(bytes.NewReader(b)), whole) })
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
