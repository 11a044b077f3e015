package submit

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"

	"blockyard/agents/contest/replay"
	"blockyard/agents/flatten"
)

// Check tests a bot as its contest would: it compiles the source alone, then replays the contest to it.
func Check(ctx context.Context, game string, src []byte) (r replay.Result, err error) {
	_, e, err := lookup(game)
	if err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "bot-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "bot")
	if err := Compile(ctx, src, exe); err != nil {
		return r, err
	}
	return e.Submission.Replay.Play(ctx, []string{exe}, nil)
}

// Compile builds src alone into the executable exe: in an empty folder, as a module of language version flatten.Lang,
// without network. Before that, gofmt and go vet must find nothing.
func Compile(ctx context.Context, src []byte, exe string) error {
	clean, err := format.Source(src)
	if err != nil {
		return fmt.Errorf("compile bot: %w", err)
	}
	if !bytes.Equal(clean, src) {
		return fmt.Errorf("compile bot: gofmt would change the source")
	}
	dir, err := os.MkdirTemp("", "bot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	mod := "module bot\n\ngo " + flatten.Lang[2:] + "\n"
	for name, text := range map[string][]byte{"go.mod": []byte(mod), "main.go": src} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	if exe, err = filepath.Abs(exe); err != nil {
		return err
	}
	for _, args := range [][]string{{"vet", "."}, {"build", "-ldflags=-s -w", "-o", exe, "."}} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		// Without the folder's name in the result, the same source is compiled once and then found in the cache.
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath", "GOPROXY=off", "CGO_ENABLED=0",
			"GOTOOLCHAIN=local")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compile bot: go %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// Zip returns src as an upload: an archive with main.go at its top and nothing else. A contest server that builds Go
// programs finds one package main there.
func Zip(src []byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create("main.go")
	if err == nil {
		_, err = f.Write(src)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("zip bot: %w", err)
	}
	return b.Bytes(), nil
}
