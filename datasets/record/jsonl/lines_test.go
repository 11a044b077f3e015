package jsonl_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"blockyard/datasets/record/jsonl"
	"blockyard/env/envtest"
)

// read returns the lines with their numbers, and how they ended.
func read(file []byte) (text []string, numbers []int, end error) {
	r := envtest.Must(jsonl.New("f", bytes.NewReader(file)))
	for {
		line, err := r.Next()
		if err != nil {
			return text, numbers, err
		}
		text, numbers = append(text, string(line)), append(numbers, r.Line())
	}
}

func TestPlainAndCompressedAlike(t *testing.T) {
	for _, c := range []struct {
		file    string
		text    []string
		numbers []int
	}{
		{"", nil, nil},
		{"\n\n", nil, nil},
		{"a\nb\n", []string{"a", "b"}, []int{1, 2}},
		{"a\r\n\r\n  b", []string{"a", "b"}, []int{1, 3}},
		{strings.Repeat("x", 200_000) + "\ny\n", []string{strings.Repeat("x", 200_000), "y"}, []int{1, 2}},
	} {
		packed := slices.Concat(envtest.Gzip(c.file[:len(c.file)/2]), envtest.Gzip(c.file[len(c.file)/2:])) // two members
		for _, file := range [][]byte{[]byte(c.file), packed} {
			text, numbers, err := read(file)
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, c.text, text)
			require.Equal(t, c.numbers, numbers)
		}
	}
}

func TestCompressedDataEndsEarly(t *testing.T) {
	packed := envtest.Gzip(strings.Repeat("some line\n", 1000))
	for n := 2; n < len(packed); n++ {
		r := envtest.Must(jsonl.New("f", bytes.NewReader(packed[:n])))
		var err error
		for err == nil {
			_, err = r.Next()
		}
		require.ErrorIs(t, err, jsonl.ErrCut, "%d bytes", n)
		require.True(t, r.Cut())
	}
	spoilt := bytes.Clone(packed)
	spoilt[len(spoilt)-6] ^= 1 // its check sum
	_, _, err := read(spoilt)
	require.Error(t, err)
	require.False(t, errors.Is(err, io.EOF))
}

func TestOpen(t *testing.T) {
	path := envtest.File(t, "f", "a")
	r := envtest.Must(jsonl.Open(path))
	envtest.Must(r.Next())
	require.EqualError(t, r.Errorf("odd: %w", io.ErrNoProgress), path+":1: odd: "+io.ErrNoProgress.Error())
	require.True(t, r.Cut())
	require.False(t, r.Compressed())
	require.NoError(t, r.Close())
	require.ErrorIs(t, envtest.Failed(jsonl.Open(filepath.Dir(path)+"/none")), os.ErrNotExist)
}

// Offset is where a line ends, and reading can begin there again with the right numbers.
func TestOffset(t *testing.T) {
	text := "a\n\nbb\r\nccc"
	for _, file := range [][]byte{[]byte(text), envtest.Gzip(text)} {
		r := envtest.Must(jsonl.New("f", bytes.NewReader(file)))
		for _, want := range []int64{2, 7, 10} {
			envtest.Must(r.Next())
			require.Equal(t, want, r.Offset())
		}
	}
	for name, file := range map[string][]byte{"plain": []byte(text), "zipped": envtest.Gzip(text)} {
		path := envtest.File(t, name, file)
		r := envtest.Must(jsonl.OpenAt("f", path, 1, 2))
		require.Equal(t, "bb", string(envtest.Must(r.Next())))
		require.Equal(t, 3, r.Line())
		require.Equal(t, int64(7), r.Offset())
		require.EqualError(t, r.Errorf("odd"), "f:3: odd")
		require.NoError(t, r.Close())
		r = envtest.Must(jsonl.OpenAt("f", path, 5, 100))
		require.ErrorIs(t, envtest.Failed(r.Next()), io.EOF, "a shorter file reads as empty")
		require.NoError(t, r.Close())
	}
	require.EqualError(t, envtest.Failed(jsonl.OpenAt("f", t.TempDir(), 0, 0)), "f: want a regular file")
}

// endless is a compressed stream of one character that does not end.
func endless(t *testing.T, c string) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { _ = r.Close() })
	go func() {
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		for text := []byte(strings.Repeat(c, 1<<16)); ; {
			if _, err := z.Write(text); err != nil {
				return
			}
		}
	}()
	return r
}

// What never ends is refused after a bounded number of bytes, with the place and what to do.
func TestEndlessFiles(t *testing.T) {
	for c, want := range map[string]string{
		"\n":   "f:1048577: more than 1048576 bytes of blank lines: remove them",
		" \n":  "f:524289: more than 1048576 bytes of blank lines: remove them",
		" ":    "f:1: the line is too long: want at most 16777216 bytes",
		"x":    "f:1: the line is too long: want at most 16777216 bytes",
		"{}\n": "f:10923: the file has more than 32768 bytes uncompressed: raise --max-bytes",
	} {
		r := envtest.Must(jsonl.New("f", endless(t, c)))
		if c == "{}\n" {
			r.Limit(32<<10, "raise --max-bytes")
		}
		var err error
		for err == nil {
			_, err = r.Next()
		}
		require.EqualError(t, err, want)
	}
	blank := strings.Repeat("\n", jsonl.MaxBlank) // as many as are permitted
	text, _, err := read([]byte(blank + "a\n" + blank))
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, []string{"a"}, text)
}

// A reader hears that its context has ended, within a line and between blank lines, and goes on where
// it was.
func TestContextEnds(t *testing.T) {
	for _, c := range []string{"x", "\n"} {
		ctx, cancel := context.WithCancel(t.Context())
		// The context ends while the data is read.
		in := io.MultiReader(bytes.NewReader(bytes.Repeat([]byte(c), 300_000)), hook(cancel),
			bytes.NewReader(bytes.Repeat([]byte(c), 300_000)), strings.NewReader("y\n"))
		r := envtest.Must(jsonl.New("f", in))
		r.Use(ctx)
		_, err := r.Next()
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "f:")
		require.Less(t, r.Offset(), int64(500_000))
		require.ErrorIs(t, envtest.Failed(r.Next()), context.Canceled)
		r.Use(t.Context())
		line := envtest.Must(r.Next())
		require.EqualValues(t, 600_002, r.Offset())
		require.Equal(t, strings.TrimSpace(strings.Repeat(c, 600_000)+"y"), string(line))
	}
}

// A hook is an empty reader that does something when it is read.
type hook func()

func (h hook) Read([]byte) (int, error) {
	h()
	return 0, io.EOF
}

// Going on in the middle of a compressed file takes time too, so it can be interrupted, and gone on with.
func TestContextEndsBehindALongBeginning(t *testing.T) {
	path := envtest.File(t, "f", envtest.Gzip(strings.Repeat(strings.Repeat("x", 1023)+"\n", 1<<14)+"y\n"))
	r := envtest.Closing(t, envtest.Must(jsonl.OpenAt("f", path, 1<<14, 1<<24)))
	soon, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	r.Use(soon)
	for range 3 {
		require.ErrorIs(t, envtest.Failed(r.Next()), context.DeadlineExceeded)
	}
	r.Use(t.Context())
	require.Equal(t, "y", string(envtest.Must(r.Next())))
	require.Equal(t, 1<<14+1, r.Line())
	r = envtest.Closing(t, envtest.Must(jsonl.OpenAt("f", path, 1<<14, 1<<24)))
	r.Limit(1<<24, "split it")
	require.ErrorContains(t, envtest.Failed(r.Next()), "more than 16777216 bytes")
}
