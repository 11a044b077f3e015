package bots

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
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
		callersOfOwn(t, path, found)
		return nil
	}))
	for caller := range found {
		require.NotEmpty(t, owners[caller], "%s calls bots.Own: whose text is that?", caller)
	}
	for caller := range owners {
		require.True(t, found[caller], "%s does not call bots.Own any more", caller)
	}
}

var (
	renamed = regexp.MustCompile(`[\w.]\s+"blockyard/agents/bots"`)
	useHere = regexp.MustCompile(`[^.\w]Own\b[^:]`) // neither a method or field, nor the key of one
	useOf   = regexp.MustCompile(`\bbots\.Own\b`)
)

// callersOfOwn adds the functions of a file that mention Own, as "folder function".
func callersOfOwn(t *testing.T, path string, found map[string]bool) {
	source := envtest.Must(os.ReadFile(path))
	folder, use := filepath.ToSlash(filepath.Dir(path))[len("../.."):], useOf
	if folder == "/agents/bots" {
		use = useHere
	}
	require.False(t, renamed.Match(source), "%s imports agents/bots by another name than bots", path)
	files := token.NewFileSet()
	for _, d := range envtest.Must(parser.ParseFile(files, path, source, parser.SkipObjectResolution)).Decls {
		where := fmt.Sprintf("%T", d)
		if f, ok := d.(*ast.FuncDecl); ok {
			where = f.Name.Name
		}
		text := source[files.Position(d.Pos()).Offset:files.Position(d.End()).Offset]
		if use.Match(text) && !bytes.HasPrefix(text, []byte("func Own(")) {
			found[strings.TrimPrefix(folder+" "+where, "/")] = true
		}
	}
}
