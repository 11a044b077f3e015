package flatten

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"blockyard/env/envtest"
)

// spoken gives the sample program the text without which it does nothing.
var spoken = map[string][]byte{"bot/text.go": []byte("package main\n\nconst text = \"hello\"\n")}

// sample is the folder with the program of testdata/sample.txtar.
var sample string

func TestMain(m *testing.M) {
	files := envtest.Must(txtar.FS(envtest.Must(txtar.ParseFile("testdata/sample.txtar"))))
	sample = envtest.Must(os.MkdirTemp("", "sample-"))
	if err := os.CopyFS(sample, files); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(sample)
	os.Exit(status)
}

func run(t *testing.T, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = sample
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// The flattened program compiles alone, as Lang, and does what the program does. Its source is the same every time.
func TestSourceBehavesAsTheProgram(t *testing.T) {
	t.Parallel()
	o := Options{Package: "sample/bot", Dir: sample, Replace: spoken,
		Header: []string{"Code generated; DO NOT EDIT.", "", "More."}}
	src := envtest.Must(Source(o))
	require.Equal(t, string(src), string(envtest.Must(Source(o))))

	alone, over := t.TempDir(), filepath.Join(t.TempDir(), "overlay.json")
	for name, text := range map[string]string{
		"go.mod": "module bot\n\ngo " + Lang[2:] + "\n", "main.go": string(src), "text.go.txt": string(spoken["bot/text.go"]),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(alone, name), []byte(text), 0o600))
	}
	here := envtest.Must(filepath.EvalSymlinks(filepath.Join(sample, "bot", "text.go")))
	replace := `{"Replace":{"` + here + `":"` + filepath.Join(alone, "text.go.txt") + `"}}`
	require.NoError(t, os.WriteFile(over, []byte(replace), 0o600))
	require.Equal(t, run(t, "go", "run", "-overlay", over, "sample/bot"), run(t, "go", "-C", alone, "run", "."))

	require.Equal(t, string(envtest.Must(format.Source(src))), string(src))
	require.True(t, bytes.HasPrefix(src, []byte("// Code generated; DO NOT EDIT.\n//\n// More.\n\npackage main\n")))
	for _, gone := range []string{"neverReached", "must not be", "Dropped", "Forgotten", "neverUsed", "no text",
		"the third", "unused", "Unset", "Unneeded", "sample/rules\""} {
		require.NotContains(t, string(src), gone)
	}
	require.Regexp(t, `^rules \d+, moves \d+, bot \d+$`, Sizes(src))
}

func TestSourceRefuses(t *testing.T) {
	broken := map[string][]byte{"bot/text.go": []byte("package main\nconst text = 1\n")}
	for _, c := range []struct {
		name, want string
		o          Options
	}{
		{"a new library function", "newlib/main.go:6: strings.Cut came with go1.18", Options{Package: "sample/newlib"}},
		{"an embedded file", "far/main.go:6: self may be an embedded file", Options{Package: "sample/far"}},
		{"func init", "early/main.go:7: func init: initialize the variables", Options{Package: "sample/early"}},
		{"a library", "is package rules, not a program", Options{Package: "sample/rules"}},
		{"nothing", "flatten sample/nothing", Options{Package: "sample/nothing"}},
		{"a broken replacement", "mismatched types", Options{Package: "sample/bot", Replace: broken}},
		{"a replacement of nothing", "nothing to replace",
			Options{Package: "sample/bot", Replace: map[string][]byte{"bot/texts.go": nil}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.o.Dir = sample
			require.ErrorContains(t, envtest.Failed(Source(c.o)), c.want)
		})
	}
}

// Every construct that is newer than Lang is refused by name and place. Each case is a line of func run.
func TestSourceRefusesNewerLanguage(t *testing.T) {
	const loopVariable = "loop variable x is captured or its address is taken, and in go1.17 all iterations share it"
	for _, c := range []struct{ name, line, want string }{
		{"min", "println(min(float64(n), 3))", "built-in min requires go1.21"},
		{"clear", "clear(map[int]int{})", "clear requires go1.21"},
		{"any", "var v any = n; println(v)", "predeclared any requires go1.18"},
		{"range over an integer", "for i := range n { println(i) }", "requires go1.22"},
		{"range over a function", "for i := range func(func(int) bool) {} { println(i) }", "requires go1.23"},
		{"type parameters", "println(first([]int{n}))", "implicit function instantiation requires go1.18"},
		{"generic type", "println(box[int]{}.of)", "type instantiation requires go1.18"},
		{"slice to array", "println([2]int([]int{n, 2})[0])", "requires go1.20"},
		{"closure", "var fs []func() int; for x := 0; x < n; x++ { fs = append(fs, func() int { return x }) }", loopVariable},
		{"closure over a range",
			"var fs []func() int; for _, x := range []int{n} { fs = append(fs, func() int { return x }) }", loopVariable},
		{"address of a variable", "var ps []*int; for x := range []int{n} { ps = append(ps, &x) }", loopVariable},
		{"address of a field", "var ps []*int; for _, x := range []stack{{}} { ps = append(ps, &x.cells[1]) }", loopVariable},
		{"slice of an array", "var ps [][]int; for _, x := range [][4]int{{}} { ps = append(ps, x[:]) }", loopVariable},
		{"pointer method", "for _, x := range []stack{{}} { x.push() }", loopVariable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := "newlang/main.go"
			text := envtest.Must(os.ReadFile(filepath.Join(sample, file)))
			text = bytes.Replace(text, []byte("func run(n int) {}"), []byte("func run(n int) {\n"+c.line+"\n}"), 1)
			_, err := Source(Options{Package: "sample/newlang", Dir: sample, Replace: map[string][]byte{file: text}})
			require.ErrorContains(t, err, "newlang/main.go:6: ")
			require.ErrorContains(t, err, c.want)
			require.True(t, strings.Contains(err.Error(), "write it out") || strings.Contains(err.Error(), "copy it"))
		})
	}
}
