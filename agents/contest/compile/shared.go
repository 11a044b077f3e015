package compile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// common are packages that most programs import.
var common = []string{"bufio", "encoding/json", "fmt", "math/rand/v2", "os", "sort", "strconv", "strings", "time"}

// shareGo lets a contained build read the caches of this user, so that it does not compile the standard library anew.
func (c *compiler) shareGo(tool string) error {
	if c.cage == nil {
		return nil
	}
	ask := exec.CommandContext(c.ctx, tool, "env", "GOROOT", "GOCACHE", "GOMODCACHE")
	ask.Dir = os.TempDir() // what a submission says about Go is not for a program that is not contained
	where, err := ask.Output()
	if c.ctx.Err() != nil {
		return nil // the build says so
	}
	paths := strings.Split(strings.TrimSpace(string(where)), "\n")
	if err != nil || len(paths) != 3 {
		return fmt.Errorf("%s env: %q, %w", tool, where, err)
	}
	if _, err := os.Stat(filepath.Join(paths[1], "00")); err != nil { // it has never been used
		fill := exec.CommandContext(c.ctx, tool, append([]string{"build"}, common...)...)
		fill.Dir = os.TempDir()
		_ = fill.Run() // the contained build says what is wrong
	}
	c.cage.Read = append(c.cage.Read, paths...)
	c.cage.Env = append(c.cage.Env, "GOTOOLCHAIN=local", "GOPROXY=off", "GOROOT="+paths[0], "GOCACHE="+paths[1],
		"GOMODCACHE="+paths[2])
	return nil
}
