package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// value makes a random value of what the scanner understands.
func value(r *rand.Rand, depth int) any {
	kinds := 9
	if depth == 0 {
		kinds = 7
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return int64(r.Uint64()) >> r.IntN(64)
	case 3:
		return r.Uint64() >> r.IntN(64)
	case 4:
		return r.Float64()
	case 5:
		return strings.Repeat("x", r.IntN(300))
	case 6:
		return bytes.Repeat([]byte{0xc1}, r.IntN(70000)>>r.IntN(17))
	case 7:
		list := make([]any, r.IntN(20))
		for i := range list {
			list[i] = value(r, depth-1)
		}
		return list
	}
	m := map[string]any{}
	for range r.IntN(20) {
		m[strings.Repeat("k", r.IntN(40))] = value(r, depth-1)
	}
	return m
}

// scanWhole scans b as if it had come at once.
func scanWhole(b []byte, limit int) (scanner, bool, int, error) {
	var s scanner
	done, need, err := s.next(b, limit)
	return s, done, need, err
}

// bombs are short claims of much memory or deep nesting, each the params of a request, by the code of their refusal.
var bombs = map[int][][]byte{
	TooLarge: {
		{0xdd, 4, 0, 0, 0},         // array of 67 million
		{0xdd, 255, 255, 255, 255}, // array of 4 billion
		{0xc6, 255, 255, 255, 255}, // bin of 4 GiB
		{0xdb, 255, 255, 255, 255}, // string of 4 GiB
		{0xdf, 255, 255, 255, 255}, // map of 4 billion
		{0xdf, 0, 0, 0xff, 0},      // map of as many as bytes may come
	},
	BadFrame: {
		bytes.Repeat([]byte{0x91}, 20), // nested 17 deep
		bytes.Repeat([]byte{0x91}, 20_000_000),
		bytes.Repeat([]byte{0x81, 0xa1, 'k'}, 20),               // maps
		append([]byte{0xdc, 0x13, 0x88}, make([]byte, 5000)...), // 5000 values
		{0xd4, 1, 0},                  // extension
		{0xc9, 255, 255, 255, 255, 1}, // extension of 4 GiB
		{0xc1},                        // the unused byte
	},
}

func TestBombsAreRefused(t *testing.T) {
	for code, all := range bombs {
		for _, bomb := range all {
			r := NewReader(bytes.NewReader(append([]byte{0x94, 0, 7, 0xa4, 'o', 'p', 'e', 'n'}, bomb...)))
			r.Limit = func([]byte) int { return 64 << 10 }
			held := 0
			r.Grow = func(n, _ int) error { held += n; return nil }
			var f Frame
			var refusal *Error
			require.Less(t, envtest.Allocated(func() { require.ErrorAs(t, r.Next(&f), &refusal) }), uint64(1<<20))
			require.Equal(t, []any{code, uint32(7)}, []any{refusal.Code, f.ID}, refusal.Msg)
			require.LessOrEqual(t, held, 64<<10)
		}
	}
}

// appendStep appends a step request for handle h as clients write it that are in a hurry: with numbers of four bytes.
func appendStep(dst []byte, id, h uint32, actions []byte) []byte {
	dst = append(appendHead(dst, 0x94, Request, id), "\xa4step\x92\xce"...)
	return append(appendBinHead(binary.BigEndian.AppendUint32(dst, h), len(actions)), actions...)
}

func TestReaderSplitsRequests(t *testing.T) {
	var stream []byte
	big := bytes.Repeat([]byte{7}, 100_000)
	add := func(id uint32, method string, params ...any) {
		b := envtest.Must(AppendRequest(nil, id, method, params...))
		stream = append(stream, b...)
	}
	add(1, "hello", map[string]any{"proto": []int{3, 0}})
	add(2, "step", 3, []byte{1, 2})
	add(3, "restore", 3, nil, big, map[string]any{"reseed": 9})
	stream = append(stream, 0x93, Notification, 0xa1, 'n', 0x90)
	stream = appendStep(stream, 4_000_000_000, 3, []byte{9, 8})
	for _, from := range []io.Reader{
		bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream)), iotest.HalfReader(bytes.NewReader(stream)),
	} {
		r := NewReader(from)
		r.Limit = func([]byte) int { return 1 << 20 }
		var f Frame
		var seen []string
		err := r.Next(&f)
		for ; err == nil; err = r.Next(&f) {
			seen = append(seen, string(f.Method))
			switch f.ID {
			case 3:
				require.Equal(t, big, f.Bin(2, "states"))
				var o struct {
					Reseed int `msgpack:"reseed"`
				}
				require.NoError(t, errors.Join(f.Err(), f.Options(3, &o)))
				require.Equal(t, 9, o.Reseed)
			case 4_000_000_000:
				require.EqualValues(t, 3, f.Int(0, "h", 0, 10))
				require.NoError(t, f.Err())
			}
		}
		require.Equal(t, io.EOF, err)
		require.Equal(t, []string{"hello", "step", "restore", "n", "step"}, seen)
	}
}

func TestReaderRefuses(t *testing.T) {
	frames := [][]byte{
		{0x80}, // no array
		[]byte("GET / HTTP/1.1\r\n\r\n"),
		{0x93, 0, 1, 0xa1, 'x'},          // array of 3 with 0
		{0x94, 1, 1, 0xc0, 0xc0},         // a response
		{0x94, 0, 0xff, 0xa1, 'x', 0x90}, // negative id
		{0x94, 0, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0, 0xa1, 'x', 0x90},                      // id of 33 bits
		{0x94, 0, 0xa1, 'x', 0xa1, 'x', 0x90},                                         // id that is a string
		{0x94, 0, 1, 5, 0x90},                                                         // method that is a number
		append([]byte{0x94, 0, 1, 0xd9, 33}, bytes.Repeat([]byte{'x'}, 34)...),        // method of 33 bytes
		{0x94, 0, 1, 0xa1, 'x', 0x80},                                                 // params that are a map
		{0x94, 0, 1, 0xa1, 'x', 0x99, 1, 2, 3, 4, 5, 6, 7, 8, 9},                      // nine params
		append([]byte{0x94, 0, 1, 0xa1, 'x', 0x91, 0xc5, 2, 0}, make([]byte, 512)...), // over the limit
	}
	for k, b := range frames {
		r := NewReader(bytes.NewReader(b))
		r.Limit = func([]byte) int { return 500 }
		want := BadFrame
		if k == len(frames)-1 {
			want = TooLarge
		}
		var refusal *Error
		require.ErrorAs(t, r.Next(&Frame{}), &refusal)
		require.Equal(t, want, refusal.Code, "%x: %s", b, refusal.Msg)
	}
	for cut := 1; cut < 12; cut++ {
		b := appendStep(nil, 1, 1, []byte{1, 2})[:cut]
		require.Equal(t, io.ErrUnexpectedEOF, NewReader(bytes.NewReader(b)).Next(&Frame{}))
	}
}

func TestParamsAreChecked(t *testing.T) {
	b, err := AppendRequest(nil, 1, "m", -1, "text", []byte{1}, map[string]any{"known": 5}, []int{1}, 1.5,
		map[string]any{"unknown": 1})
	require.NoError(t, err)
	var f Frame
	require.NoError(t, NewReader(bytes.NewReader(b)).Next(&f))
	var o struct {
		Known int64 `msgpack:"known"`
	}
	code := func(err error) int {
		var refusal *Error
		require.ErrorAs(t, err, &refusal)
		return refusal.Code
	}
	for _, i := range []int{0, 1, 5, 7} {
		require.Zero(t, f.Int(i, "x", 0, 5))
		require.Equal(t, BadParams, code(f.Err()))
	}
	require.Empty(t, f.Str(0, "x"))
	require.Equal(t, BadParams, code(f.Err()))
	require.Nil(t, f.Bin(1, "x"))
	require.Nil(t, f.Bin(3, "options"), "the first error stands")
	require.ErrorContains(t, f.Err(), "x is not a bin")
	require.NoError(t, f.Err())
	f.Str(0, "text")
	require.ErrorContains(t, f.Options(3, &o), "text is not a string")
	require.Equal(t, BadParams, code(f.Options(4, &o)))
	require.ErrorContains(t, f.Options(6, &o), "unknown")
	require.NoError(t, f.Options(3, &o))
	require.EqualValues(t, 5, o.Known)
	require.NoError(t, f.Options(9, &o))
	require.Equal(t, BadParams, code(f.Most(6)))
}

// TestResultsOfAnySize encodes results on both sides of the size at which a map's head changes.
func TestResultsOfAnySize(t *testing.T) {
	for _, pairs := range []int{0, 1, 15, 16, 300} {
		var fields Fields
		want := map[string]int{}
		for k := range pairs {
			fields = append(fields, fmt.Sprint(k), k)
			want[fmt.Sprint(k)] = k
		}
		parts := envtest.Must(Result(7, fields))
		var got map[string]int
		id, failure := envtest.Must2(ReadResponse(bufio.NewReader(bytes.NewReader(bytes.Join(parts, nil))), &got))
		require.Nil(t, failure)
		require.Equal(t, uint32(7), id)
		require.Equal(t, want, got)
	}
	require.ErrorContains(t, envtest.Failed(Result(7, Fields{"name"})), "want pairs")
}
