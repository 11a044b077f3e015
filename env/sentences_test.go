package env_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unsaid are the folders that are being written anew, and how many of their names have no sentence. It only falls.
var unsaid = map[string]int{"agents/contest": 92, "env/vec": 16, "rpc/session/batch": 2}

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
	check := func(id *ast.Ident, owner string, value bool, docs ...*ast.CommentGroup) {
		said := func(d *ast.CommentGroup) bool { return d.Text() != "" && (value || says(d.Text(), owner+id.Name)) }
		if !slices.ContainsFunc(docs, said) {
			out = append(out, fmt.Sprintf("%s: %s: want a sentence that says what it promises, and not only its name",
				places.Position(id.Pos()), strings.TrimPrefix(owner+"."+id.Name, ".")))
		}
	}
	values := func(names []*ast.Ident, owner string, docs ...*ast.CommentGroup) {
		for _, name := range names {
			if name.IsExported() || owner != "" {
				check(name, owner, true, docs...)
			}
		}
	}
	for _, d := range f.tree.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Name.IsExported() {
			owner := ""
			if d.Recv != nil {
				owner, _, _ = strings.Cut(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*"), "[")
			}
			if owner == "" || ast.IsExported(owner) {
				check(d.Name, owner, false, d.Doc)
			}
		}
		decl, ok := d.(*ast.GenDecl)
		for k := 0; ok && k < len(decl.Specs); k++ {
			switch s := decl.Specs[k].(type) {
			case *ast.TypeSpec:
				check(s.Name, "", false, s.Doc, s.Comment, decl.Doc)
				if i, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
					for _, m := range i.Methods.List {
						values(m.Names, s.Name.Name, m.Doc, m.Comment)
					}
				}
			case *ast.ValueSpec:
				values(s.Names, "", s.Doc, s.Comment, decl.Doc)
			}
		}
	}
	return out
}

// TestSentences asks for a sentence at every exported name and every type of Go.
func TestSentences(t *testing.T) {
	trials := []trial{{"env/vec/x.go", strings.Repeat("func F() {}\n", unsaid["env/vec"]), ""},
		{"env/vec/x.go", strings.Repeat("func F() {}\n", 1+unsaid["env/vec"]), "env/vec/x.go:2:6: F: want a sentence"}}
	for text, says := range map[string]string{
		"// F computes the square root of x.\nfunc F() {}": "",
		"func F() {}": "a.go:2:6: F: want a sentence",
		"func f() {}": "",
		"// NewThing returns a new thing.\nfunc NewThing() {}":                 "NewThing: want",
		"// Close implements io.Closer.\nfunc (T) Close() {}":                  "T.Close: want",
		"// Close waits for writers (see io.Closer).\nfunc (*T[P]) Close() {}": "",
		"func (t) Close() {}":                           "",
		"type t struct{}":                               "t: want",
		"type t struct{} // a seat, and who sits there": "",
		"// An I is a source of random numbers.\ntype I interface{ A() }":       "I.A: want",
		"// The kinds.\nconst (\n\tA = 1\n\tB = 2 // the other\n)\nvar C = 1\n": "C: want",
	} {
		trials = append(trials, trial{"a.go", text, says})
	}
	holds(t, func(all []source) (out []string) {
		counts := map[string]int{}
		of := func(s string) string {
			for folder := range unsaid {
				if within(s, folder) {
					return folder
				}
			}
			return ""
		}
		for _, f := range all {
			if f.isProduct() {
				found := f.speechless()
				out = append(out, found...)
				counts[of(f.path)] += len(found)
			}
		}
		return slices.DeleteFunc(out, func(s string) bool { return counts[of(s)] <= unsaid[of(s)] })
	}, trials...)
}
