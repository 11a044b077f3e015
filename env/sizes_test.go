package env_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const (
	maxFileLines  = 350
	maxFuncLines  = 85
	maxLineLength = 120 // characters, a tab counted as one
)

// folders have all sources; what stands beside them in a checkout was written by commands.
var folders = []string{"agents", "datasets", "env", "train", "rpc"}

// generated matches the line that marks a generated Go file.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// isProduct reports whether the size limits hold for a file: Go that is not a test, and the Python
// package.
func isProduct(path string) bool {
	switch filepath.Ext(path) {
	case ".go":
		return !strings.HasSuffix(path, "_test.go")
	case ".py":
		return within(path, "rpc/python/blockyard")
	}
	return false
}

// oversize returns a sentence for every limit that a file exceeds.
func oversize(path, text string) []string {
	if generated.MatchString(text) {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var out []string
	if len(lines) > maxFileLines {
		out = append(out, fmt.Sprintf("%s has %d lines, want at most %d: split it", path, len(lines), maxFileLines))
	}
	for k, line := range lines {
		if n := utf8.RuneCountInString(line); n > maxLineLength {
			out = append(out, fmt.Sprintf("%s:%d has %d characters, want at most %d", path, k+1, n, maxLineLength))
		}
	}
	if filepath.Ext(path) == ".go" {
		out = append(out, longFunctions(path, text)...)
	}
	return out
}

// longFunctions returns a sentence for every function of a Go file that exceeds its limit.
func longFunctions(path, text string) (out []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil // the compiler says more
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			first, last := files.Position(f.Pos()).Line, files.Position(f.End()).Line
			if n := last - first + 1; n > maxFuncLines {
				out = append(out, fmt.Sprintf("%s:%d: %s has %d lines, want at most %d: split it",
					path, first, f.Name.Name, n, maxFuncLines))
			}
		}
	}
	return out
}

// walkGo calls each for every Go file of the product at or below root.
func walkGo(root string, each func(file string, text []byte)) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name()[0] == '.' && d.Name() != ".."):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".go" || !isProduct(file):
			return nil
		}
		text, err := os.ReadFile(file)
		each(file, text)
		return err
	})
}

// maxLines is what the Go of all programs may have, so that a reader can hold it.
const maxLines = 69_000

// helpers are packages for tests of several packages. No program contains them.
var helpers = []string{
	"agents/bots/entry/toybot", "agents/contest/compile/compiletest", "datasets/program/ops/opstest",
	"datasets/program/web/webtest", "env/envtest", "env/envtest/picture", "env/envtest/rulebook",
}

// TestWhole keeps the whole short: all Go but tests and their helpers.
func TestWhole(t *testing.T) {
	watch(t)
	helps := func(folder string) bool { return slices.Contains(helpers, folder) }
	for _, p := range list(t, "") {
		for _, dep := range p.Imports {
			own, _ := strings.CutPrefix(dep, module+"/")
			require.False(t, helps(own) && !helps(strings.TrimPrefix(p.ImportPath, module+"/")),
				"%s imports %s, which is for tests", p.ImportPath, dep)
		}
	}
	n := 0
	for _, root := range []string{"env", "agents", "train", "rpc", "datasets"} { // beside them, runs write what they make
		require.NoError(t, walkGo(filepath.Join("..", root), func(file string, text []byte) {
			if folder, err := filepath.Rel("..", filepath.Dir(file)); err != nil || !helps(filepath.ToSlash(folder)) {
				n += strings.Count(string(text), "\n")
			}
		}))
	}
	require.LessOrEqual(t, n, maxLines, "Go without tests has %d lines: make something simpler, or take something out", n)
}

// TestPackageSizes keeps the folder of a package short enough to be read as a table of contents.
func TestPackageSizes(t *testing.T) {
	files := map[string]int{}
	require.NoError(t, walkGo("..", func(file string, _ []byte) { files[filepath.Dir(file)]++ }))
	for folder, n := range files {
		most := max(maxFiles, crowded[filepath.ToSlash(strings.TrimPrefix(folder, ".."+string(filepath.Separator)))])
		require.LessOrEqual(t, n, most, "%s: %d files of Go directly in one package: which of them are a package?",
			folder, n)
	}
}

// TestSizes keeps files short enough for one thought and lines for one screen.
func TestSizes(t *testing.T) {
	var found []string
	seen := 0
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("..", folder), func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name()[0] == '.'):
				return fs.SkipDir
			}
			path := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
			if d.IsDir() || !isProduct(path) {
				return nil
			}
			seen++
			text, err := os.ReadFile(file)
			found = append(found, oversize(path, string(text))...)
			return err
		})
		require.NoError(t, err)
	}
	require.Greater(t, seen, 300, "the product has more files than that")
	require.Empty(t, found, strings.Join(found, "\n"))
}

// TestOversize shows what exceeds a limit, and what is then said.
func TestOversize(t *testing.T) {
	require.Empty(t, oversize("a.go", strings.Repeat("x\n", 350)))
	require.Equal(t, []string{"a.go has 351 lines, want at most 350: split it"},
		oversize("a.go", strings.Repeat("x\n", 351)))
	require.Empty(t, oversize("a.go", "x\n"+strings.Repeat("ä", 120)))
	require.Equal(t, []string{"a.go:2 has 121 characters, want at most 120"},
		oversize("a.go", "x\n"+strings.Repeat("ä", 121)))
	require.Empty(t, oversize("a.go", "// Code generated by x; DO NOT EDIT.\n"+strings.Repeat("x\n", 999)))
	long := "package a\n\nfunc f() {\n" + strings.Repeat("\tf()\n", 84) + "}\n"
	require.Equal(t, []string{"a.go:3: f has 86 lines, want at most 85: split it"}, oversize("a.go", long))
	require.Empty(t, oversize("a.go", strings.Replace(long, "\tf()\n", "", 1)))
	for path, want := range map[string]bool{
		"env/env.go": true, "env/env_test.go": false, "rpc/python/blockyard/env.py": true,
		"rpc/python/tests/test_env.py": false, "README.md": false,
	} {
		require.Equal(t, want, isProduct(path), path)
	}
}
