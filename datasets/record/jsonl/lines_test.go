package jsonl_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockyard/datasets/record/jsonl"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

func zip(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return out.Bytes()
}

// read returns the lines with their numbers, and how they ended.
func read(t *testing.T, file []byte) (text []string, numbers []int, end error) {
	r, err := jsonl.New("f", bytes.NewReader(file))
	require.NoError(t, err)
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
		packed := append(zip(c.file[:len(c.file)/2]), zip(c.file[len(c.file)/2:])...) // two members
		for _, file := range [][]byte{[]byte(c.file), packed} {
			text, numbers, err := read(t, file)
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, c.text, text)
			require.Equal(t, c.numbers, numbers)
		}
	}
}

func TestCompressedDataEndsEarly(t *testing.T) {
	packed := zip(strings.Repeat("some line\n", 1000))
	for n := 2; n < len(packed); n++ {
		r, err := jsonl.New("f", bytes.NewReader(packed[:n]))
		require.NoError(t, err)
		for err == nil {
			_, err = r.Next()
		}
		require.ErrorIs(t, err, jsonl.ErrCut, "%d bytes", n)
		require.True(t, r.Cut())
	}
	spoilt := bytes.Clone(packed)
	spoilt[len(spoilt)-6] ^= 1 // its check sum
	_, _, err := read(t, spoilt)
	require.Error(t, err)
	require.False(t, errors.Is(err, io.EOF))
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("a"), 0o644))
	r, err := jsonl.Open(path)
	require.NoError(t, err)
	_, err = r.Next()
	require.NoError(t, err)
	require.EqualError(t, r.Errorf("odd: %w", io.ErrNoProgress), path+":1: odd: "+io.ErrNoProgress.Error())
	require.True(t, r.Cut())
	require.False(t, r.Compressed())
	require.NoError(t, r.Close())
	_, err = jsonl.Open(filepath.Dir(path) + "/none")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Offset is where a line ends, and reading can begin there again with the right numbers.
func TestOffset(t *testing.T) {
	text := "a\n\nbb\r\nccc"
	for _, file := range [][]byte{[]byte(text), zip(text)} {
		r, err := jsonl.New("f", bytes.NewReader(file))
		require.NoError(t, err)
		for _, want := range []int64{2, 7, 10} {
			_, err := r.Next()
			require.NoError(t, err)
			require.Equal(t, want, r.Offset())
		}
	}
	for name, file := range map[string][]byte{"plain": []byte(text), "zipped": zip(text)} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, file, 0o644))
		r, err := jsonl.OpenAt("f", path, 1, 2)
		require.NoError(t, err)
		line, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, "bb", string(line))
		require.Equal(t, 3, r.Line())
		require.Equal(t, int64(7), r.Offset())
		require.EqualError(t, r.Errorf("odd"), "f:3: odd")
		require.NoError(t, r.Close())
		r, err = jsonl.OpenAt("f", path, 5, 100)
		require.NoError(t, err)
		_, err = r.Next()
		require.ErrorIs(t, err, io.EOF, "a shorter file reads as empty")
		require.NoError(t, r.Close())
	}
	_, err := jsonl.OpenAt("f", t.TempDir(), 0, 0)
	require.EqualError(t, err, "f: want a regular file")
}
