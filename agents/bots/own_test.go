package bots

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// owners are the functions outside of tests that trust text as much as the user of the program, each with the reason:
// where the text comes from.
var owners = map[string]string{
	"agents/commands players":     "--a, --b and the arguments of agents arena and ladder",
	"agents/commands match":       "--agent, --a and --b of agents play",
	"agents/commands agent":       "--agent of agents bot",
	"agents/fleet/matches pack":   "what agents arena has parsed before as its own, read again for workers",
	"agents/fleet/matches Share":  "the agents of a self-test, named there",
	"agents/play/analyst ranker":  "--agent of agents analyze; whatever a page asks for is foreign",
	"agents/commands contestants": "--bot of agents host, arguments of agents tournament, league.toml of agents league",
	"rpc/commands openEnv":        "--opponents of serve",
	"rpc/session/batch text":      "a client's own request, if the server was started with --trust-specs",
	"train/commands trust":        "--gate-against of this command line; else what a run's folder says is foreign",
	"train/commands keepWeights":  "--gate-against of a new run",
	"train/commands ofLeagues":    "league.toml of a league that --gate-against names",
	"train/commands judge":        "the agents that train regret is to judge",
	"train/commands panel":        "--teacher, --nominate, --play and --policy of train regret",
}

// TestCallersOfOwn finds every use of Own in the sources. A new one needs a line in owners: say where its text comes
// from, or use Foreign.
func TestCallersOfOwn(t *testing.T) {
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		return callersOfOwn("../..", path, found)
	}))
	for caller := range found {
		require.NotEmpty(t, owners[caller], "%s calls bots.Own: whose text is that?", caller)
	}
	for caller := range owners {
		require.True(t, found[caller], "%s does not call bots.Own any more", caller)
	}
}

// callersOfOwn adds the functions of a file that mention Own, as "folder function".
func callersOfOwn(root, path string, found map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	folder, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	folder = filepath.ToSlash(folder)
	name := ""
	if folder == "agents/bots" {
		name = "."
	}
	for _, i := range file.Imports {
		if from, _ := strconv.Unquote(i.Path.Value); from == "blockyard/agents/bots" {
			if name = "bots"; i.Name != nil {
				name = i.Name.Name
			}
		}
	}
	for _, d := range file.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		where := fmt.Sprintf("%s %T", folder, d)
		if isFunc {
			where = folder + " " + f.Name.Name
		}
		if name == "" || isFunc && name == "." && f.Name.Name == "Own" {
			continue
		}
		var look func(ast.Node) bool
		look = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == name && n.Sel.Name == "Own" {
					found[where] = true
				}
				ast.Inspect(n.X, look)
				return false // the name after a dot is nothing by itself
			case *ast.Ident:
				if name == "." && n.Name == "Own" {
					found[where] = true
				}
			}
			return true
		}
		ast.Inspect(d, look)
	}
	return nil
}

// TestOwnIsFound: a call, a value and another name of the package are found, a method of the same name is not.
func TestOwnIsFound(t *testing.T) {
	dir := t.TempDir()
	for k, c := range []struct {
		source string
		found  []string
	}{
		{"import \"blockyard/agents/bots\"\nfunc f() { bots.Parse(nil, bots.Own(\"\")) }", []string{"f"}},
		{"import b \"blockyard/agents/bots\"\nfunc f() { g := b.Own; g(\"\") }", []string{"f"}},
		{"import . \"blockyard/agents/bots\"\nfunc f() { Own(\"\") }", []string{"f"}},
		{"import \"blockyard/agents/bots\"\nvar own = bots.Own", []string{"*ast.GenDecl"}},
		{"import \"blockyard/agents/bots\"\nfunc f() { bots.Names(nil); r.Own(nil) }", nil},
	} {
		path := filepath.Join(dir, fmt.Sprint(k)+".go")
		require.NoError(t, os.WriteFile(path, []byte("package x\n"+c.source), 0o600))
		found := map[string]bool{}
		require.NoError(t, callersOfOwn(dir, path, found))
		var names []string
		for name := range found {
			names = append(names, name[strings.LastIndexByte(name, ' ')+1:])
		}
		slices.Sort(names)
		require.Equal(t, c.found, names, c.source)
	}
}
