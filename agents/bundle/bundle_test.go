package bundle

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var spoken = map[string][]byte{"text.go": []byte("package main\n\nconst text = \"hello\"\n")}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = "testdata/sample"
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// The bundle of a program does what the program does.
func TestSourceBehavesAsTheProgram(t *testing.T) {
	src, err := Source(Options{Package: "sample/bot", Dir: "testdata/sample", Replace: spoken,
		Header: []string{"Code generated; DO NOT EDIT.", "", "More."}})
	require.NoError(t, err)
	exe := filepath.Join(t.TempDir(), "bot")
	require.NoError(t, Check(t.Context(), src, exe), "%s", src)

	over := filepath.Join(t.TempDir(), "overlay.json")
	text := filepath.Join(t.TempDir(), "text.go")
	require.NoError(t, os.WriteFile(text, spoken["text.go"], 0o600))
	here, err := filepath.Abs("testdata/sample/bot/text.go")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(over, []byte(`{"Replace":{"`+here+`":"`+text+`"}}`), 0o600))
	require.Equal(t, run(t, "go", "run", "-overlay", over, "sample/bot"), run(t, exe))

	clean, err := format.Source(src)
	require.NoError(t, err)
	require.Equal(t, string(clean), string(src))
	require.True(t, bytes.HasPrefix(src, []byte("// Code generated; DO NOT EDIT.\n//\n// More.\n\npackage main\n")))
	for _, gone := range []string{"neverReached", "must not be", "Dropped", "Forgotten", "neverUsed", "no text", "the third", "unused", "sample/rules\""} {
		require.NotContains(t, string(src), gone)
	}
}

// A fresh look at the same program gives the same bytes.
func TestSourceIsTheSameEveryTime(t *testing.T) {
	o := Options{Package: "sample/bot", Dir: "testdata/sample", Replace: spoken}
	a, err := Source(o)
	require.NoError(t, err)
	b, err := Source(o)
	require.NoError(t, err)
	require.Equal(t, string(a), string(b))
}

func TestSourceRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		o          Options
	}{
		{"type parameters", "generic/main.go:5: first has type parameters", Options{Package: "sample/generic"}},
		{"a new library call", "newlib/main.go:6: strings.Cut came with go1.18", Options{Package: "sample/newlib"}},
		{"an embedded file", "far/main.go:6: self is an embedded file", Options{Package: "sample/far"}},
		{"an order of init that would change", "early/main.go:9: start is made from level, which func init of sample/levels sets", Options{Package: "sample/early"}},
		{"a library", "is package rules, not a program", Options{Package: "sample/rules"}},
		{"nothing", "bundle sample/nothing", Options{Package: "sample/nothing"}},
		{"a broken replacement", "mismatched types", Options{Package: "sample/bot", Replace: map[string][]byte{"text.go": []byte("package main\nconst text = 1\n")}}},
		{"a replacement of nothing", "nothing to replace", Options{Package: "sample/bot", Replace: map[string][]byte{"texts.go": nil}}},
		{"what is too long", "more than the limit of 1000 (", Options{Package: "sample/bot", Replace: spoken, Limit: 1000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Dir = "testdata/sample"
			_, err := Source(c.o)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"newer language", "package main\n\nfunc main() {\n\tfor range 3 {\n\t}\n}\n", "go1.22"},
		{"no Go", "package main\n\nfunc main( {\n", "check bundle"},
		{"untidy", "package main\nfunc  main() {}\n", "gofmt"},
		{"what vet finds", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Printf(\"%d\", \"x\") }\n", "vet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ErrorContains(t, Check(t.Context(), []byte(c.src), ""), c.want)
		})
	}
}

func TestZipHoldsOneSource(t *testing.T) {
	var buf bytes.Buffer
	require.NoError(t, Zip(&buf, []byte("package main\n")))
	file := filepath.Join(t.TempDir(), "bot.zip")
	require.NoError(t, os.WriteFile(file, buf.Bytes(), 0o600))
	names, err := unzipped(file)
	require.NoError(t, err)
	require.Equal(t, "main.go=package main\n", strings.Join(names, ","))
}
