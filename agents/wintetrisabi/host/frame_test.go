package host

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/wintetris"
)

func TestCallsTravel(t *testing.T) {
	var f wintetris.Field
	f.Set(3, 0)
	f.Set(9, 19)
	var c, back call
	c.set(&f, wintetris.Block{Kind: 0, Rot: 1, X: -2, Y: 7}, wintetris.Spawn(3), true)
	require.Equal(t, block{size: blockSize, kind: 0, rot: 1, x: -2, row: 9}, c.current)
	require.Equal(t, block{size: blockSize, kind: 3, rot: 0, x: 4, row: 0}, c.next)
	require.Equal(t, []uint8{1, 1}, []uint8{c.cells[9], c.cells[19*10+3]})
	require.Equal(t, 2, bytes.Count(c.cells[:], []byte{1}))
	require.NoError(t, back.parse(c.append(nil)))
	require.Equal(t, c, back)
	require.EqualValues(t, 24, fieldSize)
	require.EqualValues(t, 20, blockSize)
}

func FuzzFrames(f *testing.F) {
	var c call
	whole, _ := writeFrame(io.Discard, nil, opUpdate, c.append(nil))
	f.Add(whole)
	f.Add([]byte{opAnswer, 4, 0, 1, 0, 0, 0, opFailed, 2, 0, 27, 200})
	f.Add([]byte{opAnswer, 255, 255, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, buf := bytes.NewReader(data), frameBuffer()
		for {
			op, body, err := readFrame(r, buf)
			if err != nil {
				return
			}
			again, err := writeFrame(io.Discard, nil, op, body)
			require.NoError(t, err)
			require.Contains(t, string(data), string(again))
			var c call
			if c.parse(body) == nil {
				require.Equal(t, body[1:], c.append(nil)[1:])
			}
			if _, text, err := parseAnswer(body); err == nil {
				require.NotContains(t, text, "\n")
			}
		}
	})
}

func TestCauses(t *testing.T) {
	for text, want := range map[string]string{
		"hello\nfree(): invalid pointer\n":                              "free(): invalid pointer",
		"host: solver.c:12: act: Assertion `calls < 3' failed.\n":       "host: solver.c:12: act: Assertion `calls < 3' failed.",
		"terminate called after throwing an instance of 'int'\nAborted": "terminate called after throwing an instance of 'int'",
		"just talk\n": "",
	} {
		tail := &tail{}
		for _, b := range []byte(text) {
			_, _ = tail.Write([]byte{b})
		}
		require.Equal(t, want, tail.cause())
	}
	long := &tail{}
	for range 100 {
		_, _ = long.Write(bytes.Repeat([]byte("talk\n"), 1000))
	}
	_, _ = long.Write([]byte("panic: oh\n"))
	for range 100 {
		_, _ = long.Write(bytes.Repeat([]byte("trace\n"), 1000))
	}
	require.Equal(t, "panic: oh", long.cause())
	require.LessOrEqual(t, len(long.text), 2*keep)
}
