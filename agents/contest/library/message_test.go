package library

import (
	"bytes"
	"encoding/gob"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"blockyard/env/wintetris"
)

func TestArgumentsOfTheLibrary(t *testing.T) {
	var f wintetris.Field
	f.Set(3, 0)
	f.Set(9, 19)
	var l library
	l.set(&request{Field: f, Now: wintetris.Block{Kind: 0, Rot: 1, X: -2, Y: 7}, Next: wintetris.Spawn(3), Fresh: true})
	require.Equal(t, block{size: blockSize, kind: 0, rot: 1, x: -2, row: 9}, l.current)
	require.Equal(t, block{size: blockSize, kind: 3, rot: 0, x: 4, row: 0}, l.next)
	require.Equal(t, []uint8{1, 1}, []uint8{l.cells[9], l.cells[19*10+3]})
	require.Equal(t, 2, bytes.Count(l.cells[:], []byte{1}))
	require.EqualValues(t, 1, l.fresh)
	require.EqualValues(t, 24, fieldSize)
	require.EqualValues(t, 20, blockSize)
}

// FuzzAnswers: whatever a library writes in the place of an answer, the process goes on or fails,
// and a text has no control characters.
func FuzzAnswers(f *testing.F) {
	var whole bytes.Buffer
	require.NoError(f, gob.NewEncoder(&whole).Encode(Answer{Code: -1, Text: "a\x1b[1mtext\n"}))
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:whole.Len()-3])
	f.Add([]byte{128})
	f.Add([]byte("q\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &Process{answers: make(chan Answer, 1)}
		go p.listen(bytes.NewReader(data))
		for a := range p.answers {
			require.NotContains(t, a.Text, "\n")
			require.NotContains(t, a.Text, "\x1b")
		}
	})
}

// An answer that announces more than an answer may have is refused before it has arrived.
func TestAnswersAreBounded(t *testing.T) {
	p := &Process{answers: make(chan Answer, 1)}
	announced := []byte{0xfd, 0x30, 0, 0} // gob's way to say 3 MiB
	r := &io.LimitedReader{R: io.MultiReader(bytes.NewReader(announced), endless{}), N: 1 << 30}
	p.listen(r)
	a := <-p.answers
	require.True(t, a.Failed)
	require.Contains(t, a.Text, "longer than 1048576 bytes")
	require.Greater(t, r.N, int64(1<<30-2*mostAnswer))
}

// endless never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestCauses(t *testing.T) {
	for text, want := range map[string]string{
		"hello\nfree(): invalid pointer\n": "free(): invalid pointer",
		"just talk\n":                      "",

		"h: s.c:12: act: Assertion `calls < 3' failed.\n":   "h: s.c:12: act: Assertion `calls < 3' failed.",
		"terminate called after throwing an 'int'\nAborted": "terminate called after throwing an 'int'",
	} {
		o := &output{}
		o.read(iotest.OneByteReader(strings.NewReader(text)))
		require.Equal(t, want, o.cause)
	}
	var out bytes.Buffer
	long := &output{to: &out}
	long.read(strings.NewReader(strings.Repeat("talk\n", 1<<18) + "panic: oh\n" + strings.Repeat("panic: trace\n", 1000)))
	require.Equal(t, "panic: oh", long.cause)
	require.Equal(t, mostPrinted, out.Len())
}
