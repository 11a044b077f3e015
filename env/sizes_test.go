package env_test

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxFileCode   = 305 // lines of code of a file
	maxFuncCode   = 75  // and of a function of Go
	maxLineLength = 120 // characters of a line of Go, a tab counted as one
)

// largeFiles are the files that may have more, and how much: loops that are unrolled by hand.
var largeFiles = map[string]int{"agents/mlp/kernel_amd64.s": 384, "agents/bots/blockbattlebot/count_amd64.h": 328}

// A budget is what some code may have, in lines of code; see lineCount. It goes down when something becomes simpler. A
// change that needs more of one row says in its message what has come, and what has gone instead.
type budget struct {
	what string // a part, or folders: env is its files alone, env/... all below it
	code int
	why  string
}

const product = "product" // the part of the code that users run

// parts are the kinds of code; see partOf.
var parts = []budget{
	{product, 78_075, "all programs, pages, bots and the Python package: what a reader has to hold"},
	{"tests of Go", 45_869, "beside what they test, with the helpers and inputs that they alone use"},
	{"tests of Python", 10_228, "on a real server"},
	{"tests of the repository", 2_443, "its layout, sizes, pages, releases and this table"},
	{"benches", 2_727, "every measurement, and the libraries that ours is measured beside"},
	{"tools", 1_767, "what builds, checks and releases; scripts of longer runs; the documentation site"},
	{"examples", 1_690, "programs of the Python package's pages, each of which a test runs"},
}

// pages are tests of the Python client's folder whose subject is the repository.
var pages = strings.Fields("test_contest_page.py test_docs.py test_examples.py test_machines.py " +
	"test_notebook.py test_readme.py test_release.py test_reproduce.py test_sdist.py test_site.py test_skills.py test_wheels.py")

// helpers are packages for tests of several packages. No program contains them.
const helpers = "agents/bots/entry/toybot agents/contest/compile/compiletest datasets/program/ops/opstest " +
	"datasets/program/web/webtest env/envtest env/envtest/picture env/envtest/rulebook"

// partOf returns the part that a file of code belongs to.
func partOf(file string) string {
	test, python := strings.HasSuffix(file, "_test.go"), within(file, "rpc/python/tests")
	switch {
	case fits(file, "rpc/bench/... .ci/bench-against"):
		return "benches"
	case test && path.Dir(file) == "env", python && slices.Contains(pages, path.Base(file)):
		return "tests of the repository"
	case python:
		return "tests of Python"
	case test, strings.Contains(file, "/testdata/"), fits(path.Dir(file), helpers+" env/envtest/..."):
		return "tests of Go"
	case within(file, "rpc/python/examples"):
		return "examples"
	case fits(file, ".ci/... train/scripts/... rpc/python/...") && !within(file, "rpc/python/blockyard"):
		return "tools"
	}
	return product
}

// budgets are the folders of the product that are no rooms of a folder with a table; see rooms.
var budgets = []budget{
	{"env", 420, "the contract that every game keeps"},
	{"env/ansi env/games env/falling", 381, "text in a terminal, the list of games, and a board as columns of bits"},
	{"env/paint", 464, "pictures of positions, in one palette"},
	{"env/vec", 2_362, "many games at once, with agents in some seats"},
	{"env/blockbattle/...", 1_227, "the rules of AI Block Battle, its dialects and its original generators"},
	{"env/blocking/...", 1_094, "the rules of Blocking, and its search for placements"},
	{"env/dropblox/...", 1_442, "the rules of Dropblox, and its 13,000 blocks"},
	{"env/tetrisduel/...", 691, "the rules of the Tetris duel"},
	{"env/wintetris/...", 931, "the rules of WinTetris, by placements and by ticks"},
	{"rpc/python/blockyard", 1_122, "names that users import: environments in the forms of other libraries, their policies, errors"},
	{"rpc/python/blockyard/vector/...", 1_536, "vector environments"},
	{"rpc/python/blockyard/transport/...", 1_857, "bytes to a server and back"},
	{"rpc/python/blockyard/formats/...", 628, "arguments, files, and descriptions of games"},
	{"rpc/python/blockyard/pool/...", 474, "games that are ready first are played first"},
	{"rpc/python/blockyard/commands/...", 459, "a file per command"},
	{"rpc/python/blockyard/evaluation/...", 326, "matches and ladders of policies"},
	{"rpc/python/blockyard/networks/...", 339, "networks as files, in numpy, PyTorch and ONNX"},
	{"rpc/python/blockyard/rendering/...", 68, "pictures of games in notebooks and terminals"},
}

// commentsPer100 is how many lines of comments 100 lines of the product's code have at least, by the ending of files.
var commentsPer100 = map[string]float64{".go": 10.6, ".py": 22.2}

// TestSizes keeps files short enough for one thought, lines for one screen, and the folder of a package short enough to
// be read as a table of contents.
func TestSizes(t *testing.T) {
	file := func(n int) string { return strings.Repeat("\n// Comment.\nvar _ = 1\n", n-1) }
	long := "func f() {\n" + strings.Repeat("\tf() // again\n\n\t// And again.\n", 74) + "}\n"
	holds(t, oversize, trial{"a.go", file(305), ""}, trial{"a_test.go", file(306), ""},
		trial{"a.go", file(306), "a.go: 306 lines of code, want at most 305"},
		trial{"a.go", "// " + strings.Repeat("ä", 117), ""},
		trial{"a.go", "// " + strings.Repeat("ä", 118), "a.go:2: 121 characters, want at most 120"},
		trial{"a.go", strings.Replace(long, "\tf() // again\n", "", 1), ""},
		trial{"a.go", long, "a.go:2:1: 76 lines of code, want at most 75"})
}

// oversize returns a sentence for every limit that files exceed. The lines of Python are ruff's matter.
func oversize(all []source) (out []string) {
	limit := func(where any, n int, of string, most int) {
		if n > most {
			out = append(out, fmt.Sprintf("%s: %d %s, want at most %d: split it", where, n, of, most))
		}
	}
	packages := map[string]int{}
	for _, f := range all {
		if !strings.HasPrefix(f.part, "tests") {
			limit(f.path, f.code, "lines of code", max(maxFileCode, largeFiles[f.path]))
		}
		if !f.isProduct() {
			continue
		}
		for k, line := range strings.Split(f.text, "\n") {
			limit(fmt.Sprintf("%s:%d", f.path, k+1), utf8.RuneCountInString(line), "characters", maxLineLength)
		}
		for _, d := range f.tree.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				first, last := places.Position(d.Pos()), places.Position(d.End())
				limit(first, countLines(f.path, f.text[first.Offset:last.Offset]).code, "lines of code", maxFuncCode)
			}
		}
		packages[path.Dir(f.path)]++
	}
	for folder, n := range packages {
		limit(folder, n, "files of Go directly in one package", maxFiles)
	}
	return out
}
