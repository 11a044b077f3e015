package commands

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockyard/datasets/program"

	"github.com/stretchr/testify/require"
)

// bomb is a compressed file of so many times the same text.
func bomb(t *testing.T, text string, times int) []byte {
	t.Helper()
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return bytes.Repeat(member.Bytes(), times)
}

// refuseToRead asserts that every command that reads files ends with an error, which says why.
func refuseToRead(t *testing.T, file, why string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	for _, command := range []string{
		"check", "stat", "view", "conform blocking", "export --parquet " + out, "export --game blocking --parquet " + out,
	} {
		refused(t, 1, map[string]string{command + " " + file: why})
	}
}

// Every command refuses a small file that holds 3 GiB of blank lines, at the first line too many.
func TestBlankBombs(t *testing.T) {
	path := write(t, "bomb.jsonl.gz", string(bomb(t, strings.Repeat("\n", 1<<20), 3<<10)))
	const why = "bomb.jsonl.gz:1048577: more than 1048576 bytes of blank lines"
	refuseToRead(t, path, why)
	refused(t, 1, map[string]string{"view --html " + path + ".html " + path: why})
}

// A file may be as long as --max-bytes says, uncompressed; the error names the place and the flag.
func TestMaxBytes(t *testing.T) {
	refuseToRead(t, sample+" --max-bytes=100", sample+":1: the file has more than 100 bytes uncompressed: raise --max-bytes")
	refused(t, 2, map[string]string{"check " + sample + " --max-bytes=0": "--max-bytes 0: want at least 1"})
}

// An export ends soon after its context and leaves nothing, whatever it reads: games that are left out without end, input
// that never comes, and a short file.
func TestExportHearsItsContext(t *testing.T) {
	text := read(t, sample)
	waiting, writer := io.Pipe()
	defer writer.Close()
	for name, in := range map[string]io.Reader{
		"endless": io.MultiReader(bytes.NewReader(bomb(t, strings.Repeat(text, 100), 1<<10)), waiting),
		"waiting": waiting,
		"short":   strings.NewReader(text),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		top := t.TempDir()
		c := exportCmd{Parquet: filepath.Join(top, "out"), Game: "wintetris", Rows: 100, Quiet: true}
		c.Files, c.MaxBytes = []string{"-"}, 1<<40
		if name == "short" {
			cancel() // it would be read before
		}
		go func() { ended <- c.Run(ctx, &program.Console{In: in, Out: io.Discard, Err: io.Discard}) }()
		time.Sleep(300 * time.Millisecond)
		cancel()
		select {
		case err := <-ended:
			require.EqualError(t, err, "interrupted: nothing was written", name)
			require.NotErrorIs(t, err, program.ErrFound)
		case <-time.After(5 * time.Minute):
			t.Fatal(name, ": the export goes on")
		}
		left, err := os.ReadDir(top)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
