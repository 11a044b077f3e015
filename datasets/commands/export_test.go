package commands

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockyard/datasets/program"
	"blockyard/env/envtest"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/disk"
)

func TestExport(t *testing.T) {
	for form, folder := range map[string]string{
		"--parquet": "", "--minari": "blockyard/blockbattle/records-v0", "--sft": "",
	} {
		dir := filepath.Join(t.TempDir(), "new", "out")
		out, errs := call(t, 0, "export", form, dir, sample, sample)
		require.Contains(t, out, ": 2 games, 252 choices\n")
		require.Empty(t, errs)
		require.NotNil(t, envtest.Must(program.ReadRun(filepath.Join(dir, folder, program.RunFile))).Seconds)
		refused(t, 1, map[string]string{"export " + form + " " + dir + " " + sample: "exists already"})
	}
}

func TestExportChoosesGames(t *testing.T) {
	const mixed = "../games/wintetris.jsonl"
	dir := filepath.Join(t.TempDir(), "out")
	refused(t, 1, map[string]string{
		"export --parquet " + dir + " " + mixed: mixed + ":2: a record of wintetris:instant, want wintetris",
	})
	require.NoFileExists(t, dir)
	out, _ := call(t, 0, "export", "--parquet", dir, "--game", "wintetris:tick", mixed)
	require.Contains(t, out, ": 1 games, ")
	require.Contains(t, read(filepath.Join(dir, "README.md")), "1 games, ")
}

// What a killed export left behind is removed by the next one to the same folder, and nothing else is; two exports
// to one folder at the same time are refused.
func TestExportRemovesLeftovers(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{".out.part", ".out.part2", ".out.kept", ".outer.part", "out.part"} {
		require.NoError(t, os.MkdirAll(filepath.Join(at(name), "data"), 0o755))
	}
	release := envtest.Must(disk.Acquire(at(".out.lock")))
	refused(t, 1, map[string]string{"export --parquet " + at("out") + " " + sample: "another export writes to"})
	require.DirExists(t, at(".out.part"))
	require.NoError(t, release())

	call(t, 0, "export", "--parquet", at("out"), sample)
	left := envtest.Must(filepath.Glob(at("*")))
	require.ElementsMatch(t, []string{at("out"), at("out.part"), at(".out.part2"), at(".out.kept"), at(".outer.part")}, left)
}

// Whatever goes wrong, no file and no folder is left behind, and the message says what it was.
func TestExportLeavesNothing(t *testing.T) {
	text := read(sample)
	spoilt := envtest.File(t, "spoilt.jsonl", text+strings.Replace(text, `"scores":[`, `"scores":[1`, 1))
	cut := envtest.File(t, "cut.jsonl", text+text[:300])
	top := t.TempDir()
	out := filepath.Join(top, "below", "out")
	for status, lines := range map[int]map[string]string{
		1: {
			"--parquet OUT " + spoilt:                    "spoilt.jsonl:2: the replayed game differs",
			"--minari OUT " + spoilt:                     "spoilt.jsonl:2: the replayed game differs",
			"--parquet OUT " + cut:                       "cut.jsonl:2",
			"--parquet OUT " + sample + " missing.jsonl": "missing.jsonl",
			"--parquet OUT --rows 0 " + sample:           "--rows 0",
			"--minari OUT --id ../a-v0 " + sample:        "not the name of a Minari dataset",
			"--parquet OUT --game chess " + sample:       "chess",
			"--parquet OUT --game dropblox " + sample:    "no games of dropblox, want at least one",
			"--parquet OUT -":                            "--game",
		},
		2: {"--parquet OUT --id a-v0 " + sample: "--id needs --minari", sample: "--parquet"},
	} {
		for line, says := range lines {
			refused(t, status, map[string]string{"export " + strings.ReplaceAll(line, "OUT", out): says})
			require.Empty(t, envtest.Must(os.ReadDir(top)), line)
		}
	}
	call(t, 0, "export", "--parquet", out, "--allow-partial", cut)
}

// A file may be as long as --max-bytes says, uncompressed, for every command that reads files; the error names the place
// and the flag.
func TestMaxBytes(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for _, command := range []string{
		"check", "stat", "view", "conform blocking", "export --parquet " + out, "export --game blocking --parquet " + out,
	} {
		const why = sample + ":1: the file has more than 100 bytes uncompressed: raise --max-bytes"
		refused(t, 1, map[string]string{command + " " + sample + " --max-bytes=100": why})
	}
	refused(t, 2, map[string]string{"check " + sample + " --max-bytes=0": "--max-bytes 0: want at least 1"})
}

// A cancelling input cancels its reader when it is read.
type cancelling struct {
	io.Reader
	cancel func()
}

func (c cancelling) Read(b []byte) (int, error) {
	c.cancel()
	return c.Reader.Read(b)
}

// An export ends soon after its context and leaves nothing, whatever it reads: games that are left out without end, input
// that never comes, and a short file.
func TestExportHearsItsContext(t *testing.T) {
	text := read(sample)
	waiting, writer := io.Pipe()
	defer writer.Close()
	endless, games := io.Pipe()
	defer endless.Close()
	go func() {
		for {
			if _, err := io.WriteString(games, text); err != nil {
				return
			}
		}
	}()
	for name, in := range map[string]io.Reader{"endless": endless, "waiting": waiting, "short": strings.NewReader(text)} {
		ctx, cancel := context.WithCancel(t.Context())
		top := t.TempDir()
		c := exportCmd{Parquet: filepath.Join(top, "out"), Game: "wintetris", Rows: 100, Quiet: true}
		c.Files, c.MaxBytes = []string{"-"}, 1<<40
		err := c.Run(ctx, &program.Console{In: cancelling{in, cancel}, Out: io.Discard, Err: io.Discard})
		require.EqualError(t, err, "interrupted: nothing was written", name)
		require.NotErrorIs(t, err, program.ErrFound)
		require.Empty(t, envtest.Must(os.ReadDir(top)))
	}
}
