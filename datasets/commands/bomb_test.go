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

// Every command refuses a small file that holds 3 GiB of blank lines, at the first line too many.
func TestBlankBombs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bomb.jsonl.gz")
	require.NoError(t, os.WriteFile(path, bomb(t, strings.Repeat("\n", 1<<20), 3<<10), 0o600))
	for _, args := range [][]string{
		{"check"}, {"stat"}, {"view"}, {"view", "--html", path + ".html"}, {"conform", "blocking"},
		{"export", "--parquet", path + ".out"}, {"export", "--game", "blocking", "--parquet", path + ".out"},
	} {
		status, _, errs := call(append(args, path)...)
		require.Equal(t, 1, status, args)
		require.Contains(t, errs, "more than 1048576 bytes of blank lines", args)
		require.Contains(t, errs, "bomb.jsonl.gz:1048577:", args)
	}
}

// A file may be as long as --max-bytes says, uncompressed; the error names the place and the flag.
func TestMaxBytes(t *testing.T) {
	for _, args := range [][]string{
		{"check"}, {"stat"}, {"view"}, {"conform", "blocking"}, {"export", "--parquet", filepath.Join(t.TempDir(), "out")},
	} {
		status, _, errs := call(append(args, sample, "--max-bytes=100")...)
		require.Equal(t, 1, status, args)
		require.Contains(t, errs, sample+":1: the file has more than 100 bytes uncompressed: raise --max-bytes", args)
	}
	status, _, errs := call("check", sample, "--max-bytes=0")
	require.Equal(t, 2, status)
	require.Contains(t, errs, "--max-bytes 0: want at least 1")
}

// An export ends soon after its context, whatever it reads: games that are left out without end, and input that
// never comes.
func TestExportHearsItsContext(t *testing.T) {
	text, err := os.ReadFile(sample)
	require.NoError(t, err)
	waiting, writer := io.Pipe()
	defer writer.Close()
	for name, in := range map[string]io.Reader{
		"endless": io.MultiReader(bytes.NewReader(bomb(t, strings.Repeat(string(text), 100), 1<<10)), waiting),
		"waiting": waiting,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		dir := filepath.Join(t.TempDir(), "out")
		c := exportCmd{Parquet: dir, Game: "wintetris", Rows: 100, Quiet: true}
		c.Files, c.MaxBytes = []string{"-"}, 1<<40
		go func() { ended <- c.Run(ctx, &program.Console{In: in, Out: io.Discard, Err: io.Discard}) }()
		time.Sleep(300 * time.Millisecond)
		cancel()
		select {
		case err := <-ended:
			require.ErrorIs(t, err, errInterrupted, name)
		case <-time.After(5 * time.Minute):
			t.Fatal(name, ": the export goes on")
		}
		require.NoDirExists(t, dir)
	}
}
