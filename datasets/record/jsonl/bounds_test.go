package jsonl_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockyard/datasets/record/jsonl"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

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
		r, err := jsonl.New("f", endless(t, c))
		require.NoError(t, err)
		if c == "{}\n" {
			r.Limit(32<<10, "raise --max-bytes")
		}
		for err == nil {
			_, err = r.Next()
		}
		require.EqualError(t, err, want)
	}
	r, err := jsonl.New("f", strings.NewReader(strings.Repeat("\n", jsonl.MaxBlank)+"a\n"+strings.Repeat("\n", jsonl.MaxBlank)))
	require.NoError(t, err)
	_, err = r.Next()
	require.NoError(t, err, "as many as are permitted")
	_, err = r.Next()
	require.ErrorIs(t, err, io.EOF)
}

// A reader hears that its context has ended, within a line and between blank lines, and goes on where
// it was.
func TestContextEnds(t *testing.T) {
	for _, c := range []string{"x", "\n"} {
		ctx, cancel := context.WithCancel(t.Context())
		// The context ends while the data is read.
		in := io.MultiReader(bytes.NewReader(bytes.Repeat([]byte(c), 300_000)), hook(cancel),
			bytes.NewReader(bytes.Repeat([]byte(c), 300_000)), strings.NewReader("y\n"))
		r, err := jsonl.New("f", in)
		require.NoError(t, err)
		r.Use(ctx)
		_, err = r.Next()
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "f:")
		require.Less(t, r.Offset(), int64(500_000))
		_, err = r.Next()
		require.ErrorIs(t, err, context.Canceled)
		r.Use(t.Context())
		line, err := r.Next()
		require.NoError(t, err)
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
	path := filepath.Join(t.TempDir(), "f")
	text := strings.Repeat(strings.Repeat("x", 1023)+"\n", 1<<14) + "y\n"
	require.NoError(t, os.WriteFile(path, zip(text), 0o600))
	r, err := jsonl.OpenAt("f", path, 1<<14, 1<<24)
	require.NoError(t, err)
	defer r.Close()
	soon, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	interrupted := 0
	for {
		r.Use(soon)
		if interrupted == 3 {
			r.Use(t.Context())
		}
		line, err := r.Next()
		if err == nil {
			require.Equal(t, "y", string(line))
			require.Equal(t, 1<<14+1, r.Line())
			break
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
		interrupted++
	}
	require.Equal(t, 3, interrupted)
	r, err = jsonl.OpenAt("f", path, 1<<14, 1<<24)
	require.NoError(t, err)
	defer r.Close()
	r.Limit(1<<24, "split it")
	_, err = r.Next()
	require.ErrorContains(t, err, "more than 16777216 bytes")
}
