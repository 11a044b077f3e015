package bundle

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Check compiles src alone: in an empty folder, as a module of language version Lang,
// without network, after gofmt and vet found nothing. It writes the executable to exe,
// or nowhere if exe is empty.
func Check(ctx context.Context, src []byte, exe string) error {
	clean, err := format.Source(src)
	if err != nil {
		return fmt.Errorf("check bundle: %w", err)
	}
	if !bytes.Equal(clean, src) {
		return fmt.Errorf("check bundle: gofmt would change it")
	}
	dir, err := os.MkdirTemp("", "bundle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	mod := "module bot\n\ngo " + strings.TrimPrefix(Lang, "go") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), src, 0o600); err != nil {
		return err
	}
	if exe == "" {
		exe = filepath.Join(dir, "bot")
	}
	exe, err = filepath.Abs(exe)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"vet", "."}, {"build", "-o", exe, "."}} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off", "CGO_ENABLED=0", "GOTOOLCHAIN=local")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("check bundle: go %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}
