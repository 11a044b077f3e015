package env_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unsaid are the packages that are being written anew, and how many of their names have no sentence. It only falls.
var unsaid = map[string]int{
	"agents/contest": 19, "agents/contest/compile": 5, "agents/contest/dropblox": 24,
	"agents/contest/dropblox/protocol": 5, "agents/contest/dropblox/server": 8, "agents/contest/dropblox/teams": 5,
	"agents/contest/library": 5, "agents/contest/trial": 7, "env/vec": 16, "rpc/session/batch": 2,
}

var (
	elsewhere = regexp.MustCompile(`\b[a-z]\w*\.[A-Z]\w*`) // a name of another package
	oneWord   = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|\d+`)
	filler    = regexp.MustCompile(`^(a|an|the|of|is|are|its?|in|for|to|and|or|what|that|which|returns?|implements|sets?|ha[sv]e?|at|by|with|as)$`)
)

// says reports whether a comment says more of a name than the name does: two words that are not in it.
func says(comment, name string) bool {
	more := map[string]bool{}
	for _, w := range oneWord.FindAllString(elsewhere.ReplaceAllString(comment, ""), -1) {
		w = strings.ToLower(w)
		if !filler.MatchString(w) && !strings.Contains(strings.ToLower(name), w[:min(len(w), max(4, len(w)-2))]) {
			more[w] = true
		}
	}
	return len(more) > 1
}

// speechless returns the exported names and the types of a file that have no sentence: functions, methods of exported
// types and of interfaces, types and, of which any comment will do, constants and variables.
func (f *source) speechless() (out []string) {
	check := func(id *ast.Ident, owner string, enough func(comment, name string) bool, docs ...*ast.CommentGroup) {
		if !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return enough(d.Text(), owner+id.Name) }) {
			out = append(out, fmt.Sprintf("%s: %s: want a sentence that says what it promises, and not only its name",
				places.Position(id.Pos()), id.Name))
		}
	}
	some := func(comment, _ string) bool { return comment != "" }
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			owner := ""
			if d.Recv != nil {
				owner, _, _ = strings.Cut(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*"), "[")
			}
			if d.Name.IsExported() && (owner == "" || ast.IsExported(owner)) {
				check(d.Name, owner, says, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					check(s.Name, "", says, s.Doc, s.Comment, d.Doc)
					i, ok := s.Type.(*ast.InterfaceType)
					for k := 0; ok && s.Name.IsExported() && k < len(i.Methods.List); k++ {
						if m := i.Methods.List[k]; m.Names != nil {
							check(m.Names[0], "", some, m.Doc, m.Comment)
						}
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							check(name, "", some, s.Doc, s.Comment, d.Doc)
						}
					}
				}
			}
		}
	}
	return out
}

// TestSentences asks for a sentence at every exported name and every type of Go.
func TestSentences(t *testing.T) {
	trials := []trial{{"env/vec/x.go", strings.Repeat("func F() {}\n", unsaid["env/vec"]), ""},
		{"env/vec/x.go", strings.Repeat("func F() {}\n", 1+unsaid["env/vec"]), "F: want a sentence"}}
	for text, says := range map[string]string{
		"// F computes the square root of x.\nfunc F() {}":                      "",
		"func F() {}\nfunc f() {}":                                              "a.go:2:6: F: want a sentence",
		"// NewThing returns a new thing.\nfunc NewThing() {}":                  "NewThing: want",
		"// Close implements io.Closer.\nfunc (T) Close() {}":                   "Close: want",
		"// Close waits for writers.\nfunc (*T[P]) Close() {}\nfunc (t) F() {}": "",
		"type t struct{}": "t: want",
		"// An I is a source of random numbers.\ntype I interface{ A() }":       "A: want",
		"// The kinds.\nconst (\n\tA = 1\n\tB = 2 // the other\n)\nvar C = 1\n": "C: want",
	} {
		trials = append(trials, trial{"a.go", text, says})
	}
	holds(t, func(all []source) (out []string) {
		left := maps.Clone(unsaid)
		for _, f := range all {
			if f.isProduct() {
				found := f.speechless()
				silent := min(left[path.Dir(f.path)], len(found))
				left[path.Dir(f.path)] -= silent
				out = append(out, found[silent:]...)
			}
		}
		return out
	}, trials...)
}
