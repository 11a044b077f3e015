package env_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// starting are the ways to start a program, or to become one.
var starting = []string{"os/exec.Command", "os/exec.CommandContext", "os/exec.Cmd", "os.StartProcess", "syscall.Exec",
	"syscall.ForkExec", "syscall.StartProcess", "golang.org/x/sys/unix.Exec", "syscall.SYS_EXECVE", "syscall.SYS_EXECVEAT",
	"syscall.SYS_FORK", "syscall.SYS_CLONE", "golang.org/x/sys/unix.SYS_EXECVE", "golang.org/x/sys/unix.SYS_EXECVEAT"}

// starts are the files that start programs otherwise than by contest.StartChild, which wants a cage, with what each
// starts.
var starts = map[string]string{
	"agents/contest/isolate.go":            "the command that the cage Trusted returns, for StartChild",
	"agents/contest/isolate_linux.go":      "a shell that does nothing, to see which namespaces there are",
	"agents/contest/child.go":              "StartChild itself: it has the type of a command from a cage",
	"agents/contest/child_unix.go":         "nothing: what is set of a command from a cage",
	"agents/contest/child_other.go":        "nothing: what is set of a command from a cage",
	"agents/contest/isolate_other.go":      "nothing: what is set of a command from a cage",
	"agents/contest/command.go":            "a shell that looks up a word that has no special characters",
	"agents/contest/cage/cage.go":          "nothing: the type of the command that a cage returns",
	"agents/contest/cage/cage_other.go":    "nothing: the type of the command that a cage returns",
	"agents/contest/cage/support_linux.go": "nothing: the type of the command that a cage returns",
	"agents/contest/cage/room_linux.go":    "bubblewrap, which makes a room for the program",
	"agents/contest/cage/walls_linux.go":   "this program again, whose process puts up walls and becomes the program",
	"agents/contest/compile/build.go":      "compilers, in the contained process that reads a submission",
	"agents/contest/compile/submission.go": "Go, in a folder of this user's, for its settings and its standard library",
	"agents/bots/dropbloxbot/replay.go":    "the bot that agents bundle has made, of our source, to compare it",
	"agents/submit/submit.go":              "Go, on our source of a bot",
	"agents/submit/flatten/language.go":    "Go, for the place of its own files",
	"datasets/program/web/server.go":       "the browser, on an address of our own",
}

// trusting are the files that put programs in the cage Trusted, which has no walls, with whose programs these are.
var trusting = map[string]string{
	"agents/bots/agent.go":              "a command of the user's own, until a tournament contains it, and an agent of ours",
	"agents/contest/cage/cage.go":       "what --isolate off asks for",
	"agents/contest/isolate.go":         "where it is made",
	"agents/contest/trial/replay.go":    "the bot that agents bundle has made, of our source, to measure it",
	"agents/contest/library/process.go": "a WinTetris plug-in, which the user names; SECURITY.md says that it is not contained",
}

// TestNoProgramStartsWithoutACage: no code of the product starts a program but by contest.StartChild, which refuses one
// without a cage, apart from a list of programs that are not foreign; and only a list of files trusts one.
func TestNoProgramStartsWithoutACage(t *testing.T) {
	started, trusted := map[string]bool{}, map[string]bool{}
	for _, f := range productGo(t) {
		for _, m := range mentions(f.path, f.text) {
			started[f.path] = started[f.path] || slices.Contains(starting, m.what)
			trusted[f.path] = trusted[f.path] || m.what == module+"/agents/contest.Trusted"
		}
	}
	same(t, started, starts, "starts a program: use contest.StartChild, or say here what it starts")
	same(t, trusted, trusting, "trusts a program with all that the user may do: whose is it?")
}

// same requires that the files found are those listed.
func same(t *testing.T, found map[string]bool, listed map[string]string, says string) {
	t.Helper()
	for file, is := range found {
		if is && listed[file] == "" {
			t.Errorf("%s %s", file, says)
		}
	}
	for file := range listed {
		if !found[file] {
			t.Errorf("%s does not do what is said of it any more", file)
		}
	}
}

// A mention is what a file uses of another package, as the path of the package, a dot and the name, what it uses of its
// own folder in the same form, and what it declares, such as "type Text".
type mention struct{ what, at string }

func mentions(file, text string) (all []mention) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	imports := map[string]string{}
	for _, i := range tree.Imports {
		from, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(from)
		if i.Name != nil {
			name = i.Name.Name
		}
		if imports[name] = from; name == "." {
			panic(file + ": names of " + from + " would look like its own")
		}
	}
	found := func(n ast.Node, what string) { all = append(all, mention{what, set.Position(n.Pos()).String()}) }
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				found(n, imports[x.Name]+"."+n.Sel.Name)
			} else {
				ast.Inspect(n.X, look)
			}
			return false // the name after a dot is nothing by itself
		case *ast.TypeSpec:
			found(n, "type "+n.Name.Name)
		case *ast.Ident:
			found(n, module+"/"+path.Dir(file)+"."+n.Name)
		}
		return true
	}
	ast.Inspect(tree, look)
	return all
}

// TestMentions: another name of a package, a value and a type are found, a field of the same name is not.
func TestMentions(t *testing.T) {
	for text, want := range map[string]string{
		"import \"os/exec\"\nfunc f() { exec.Command(\"x\") }":                 "os/exec.Command",
		"import e \"os/exec\"\nvar start = e.CommandContext":                   "os/exec.CommandContext",
		"import \"os/exec\"\nfunc f() { c := exec.Cmd{Path: \"x\"}; c.Run() }": "os/exec.Cmd",
		"import \"os\"\nfunc f() { os.StartProcess(\"\", nil, nil) }":          "os.StartProcess",
		"import \"blockyard/agents/contest\"\nvar c = contest.Trusted":         "blockyard/agents/contest.Trusted",
		"func f() { StartChild(Spec{Cage: Trusted}) }":                         "blockyard/agents/contest.Trusted",
	} {
		require.Contains(t, fmt.Sprint(mentions("agents/contest/x.go", "package x\n"+text)), "{"+want+" ", text)
	}
	require.NotContains(t, fmt.Sprint(mentions("rpc/x.go", "package x\nimport \"x/config\"\nvar c = config.Get().Trusted")),
		"contest.Trusted")
}
