package commands

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockyard/datasets/program"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/disk"
	"blockyard/datasets/record/jsonl"
)

func TestExport(t *testing.T) {
	for _, form := range []string{"--parquet", "--minari", "--sft"} {
		dir := filepath.Join(t.TempDir(), "new", "out")
		status, out, errs := call("export", form, dir, sample, sample)
		require.Zero(t, status, errs)
		require.Contains(t, out, ": 2 games, 252 choices\n")
		require.Empty(t, errs)
		made := dir
		if form == "--minari" {
			made = filepath.Join(dir, "blockyard", "blockbattle", "records-v0")
		}
		run, err := program.ReadRun(filepath.Join(made, program.RunFile))
		require.NoError(t, err)
		require.NotNil(t, run.Seconds)

		status, _, errs = call("export", form, dir, sample)
		require.Equal(t, 1, status)
		require.Contains(t, errs, "exists already")
	}
}

func TestExportChoosesGames(t *testing.T) {
	const mixed = "../games/wintetris.jsonl"
	dir := filepath.Join(t.TempDir(), "out")
	status, _, errs := call("export", "--parquet", dir, mixed)
	require.Equal(t, 1, status)
	require.Contains(t, errs, mixed+":2: a record of wintetris:instant, want wintetris")
	require.NoFileExists(t, dir)
	status, out, errs := call("export", "--parquet", dir, "--game", "wintetris:tick", mixed)
	require.Zero(t, status, errs)
	require.Contains(t, out, ": 1 games, ")
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "1 games, ")
}

// What a killed export left behind is removed by the next one to the same folder, and nothing else is; two exports
// to one folder at the same time are refused.
func TestExportRemovesLeftovers(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{".out.part", ".out.part2", ".out.kept", ".outer.part", "out.part"} {
		require.NoError(t, os.MkdirAll(filepath.Join(at(name), "data"), 0o755))
	}
	release, err := disk.Acquire(at(".out.lock"))
	require.NoError(t, err)
	status, _, errs := call("export", "--parquet", at("out"), sample)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "another export writes to")
	require.DirExists(t, at(".out.part"))
	require.NoError(t, release())

	status, _, errs = call("export", "--parquet", at("out"), sample)
	require.Zero(t, status, errs)
	left, err := filepath.Glob(at("*"))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{at("out"), at("out.part"), at(".out.part2"), at(".out.kept"), at(".outer.part")}, left)
}

// Whatever goes wrong, no file and no folder is left behind, and the message says what it was.
func TestExportLeavesNothing(t *testing.T) {
	text, err := os.ReadFile(sample)
	require.NoError(t, err)
	spoilt := write(t, "spoilt.jsonl", string(text)+strings.Replace(string(text), `"scores":[`, `"scores":[1`, 1))
	cut := write(t, "cut.jsonl", string(text)+string(text[:300]))
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--parquet", "DIR", spoilt}, "spoilt.jsonl:2: the replayed game differs"},
		{[]string{"--minari", "DIR", spoilt}, "spoilt.jsonl:2: the replayed game differs"},
		{[]string{"--parquet", "DIR", cut}, "cut.jsonl:2"},
		{[]string{"--parquet", "DIR", sample, "missing.jsonl"}, "missing.jsonl"},
		{[]string{"--parquet", "DIR", "--rows", "0", sample}, "--rows 0"},
		{[]string{"--parquet", "DIR", "--id", "a-v0", sample}, "--id needs --minari"},
		{[]string{"--minari", "DIR", "--id", "../a-v0", sample}, "not the name of a Minari dataset"},
		{[]string{"--parquet", "DIR", "--game", "chess", sample}, "chess"},
		{[]string{"--parquet", "DIR", "--game", "dropblox", sample}, "no games of dropblox, want at least one"},
		{[]string{"--parquet", "DIR", "-"}, "--game"},
		{[]string{sample}, "--parquet"},
	} {
		top := t.TempDir()
		for k := range c.args {
			c.args[k] = strings.Replace(c.args[k], "DIR", filepath.Join(top, "below", "out"), 1)
		}
		status, _, errs := call(append([]string{"export"}, c.args...)...)
		require.NotZero(t, status, c.args)
		require.Contains(t, errs, c.says)
		left, err := os.ReadDir(top)
		require.NoError(t, err)
		require.Empty(t, left, c.args)
	}
	status, _, errs := call("export", "--parquet", filepath.Join(t.TempDir(), "out"), "--allow-partial", cut)
	require.Zero(t, status, errs)
}

func TestExportInterrupted(t *testing.T) {
	top := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := exportCmd{input: input{Files: []string{sample}, bounds: bounds{jsonl.MaxBytes}}, Parquet: filepath.Join(top, "out"), Rows: 10}
	var out, errs bytes.Buffer
	err := c.Run(ctx, &program.Console{In: strings.NewReader(""), Out: &out, Err: &errs})
	require.ErrorContains(t, err, "interrupted: nothing was written")
	require.False(t, errors.Is(err, program.ErrFound))
	left, err := os.ReadDir(top)
	require.NoError(t, err)
	require.Empty(t, left)
}
