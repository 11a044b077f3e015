package env_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

// speechless returns the exported names and the types of a Go file that have no sentence: functions, methods of
// exported types and of interfaces, types and, of which any comment will do, constants and variables.
func speechless(path, text string) (out []string) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	check := func(id *ast.Ident, owner string, value bool, docs ...*ast.CommentGroup) {
		for _, d := range docs {
			if comment := d.Text(); comment != "" && (value || says(comment, owner+id.Name)) {
				return
			}
		}
		out = append(out, fmt.Sprintf("%s: %s: want a sentence that says what it promises, and not only its name",
			set.Position(id.Pos()), strings.TrimPrefix(owner+"."+id.Name, ".")))
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			owner := receiver(d)
			if d.Name.IsExported() && (owner == "" || ast.IsExported(owner)) {
				check(d.Name, owner, false, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					check(s.Name, "", false, s.Doc, s.Comment, d.Doc)
					if i, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
						for _, m := range i.Methods.List {
							for _, name := range m.Names {
								check(name, s.Name.Name, true, m.Doc, m.Comment)
							}
						}
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							check(name, "", true, s.Doc, s.Comment, d.Doc)
						}
					}
				}
			}
		}
	}
	return out
}

// receiver returns the type that a method belongs to, "" for a function.
func receiver(f *ast.FuncDecl) (name string) {
	if f.Recv == nil {
		return ""
	}
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool { // *T[P]: the first name is the type's
		id, ok := n.(*ast.Ident)
		if ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// TestSentences asks for a sentence at every exported name and every type of Go.
func TestSentences(t *testing.T) {
	missing := map[string]int{}
	for _, f := range productGo(t) {
		found := speechless(f.path, f.text)
		for folder := range unsaid {
			if within(f.path, folder) {
				missing[folder] += len(found)
				found = nil
			}
		}
		for _, s := range found {
			t.Error(s)
		}
	}
	for folder, most := range unsaid {
		require.LessOrEqual(t, missing[folder], most, "%s: more names than before have no sentence", folder)
	}
}

// TestSpeechless shows which comments are sentences.
func TestSpeechless(t *testing.T) {
	for text, want := range map[string]int{
		"// F computes the square root of x.\nfunc F() {}": 0,
		"func F() {}": 1,
		"func f() {}": 0,
		"// NewThing returns a new thing.\nfunc NewThing() {}":                 1,
		"// Close implements io.Closer.\nfunc (T) Close() {}":                  1,
		"// Close waits for writers (see io.Closer).\nfunc (*T[P]) Close() {}": 0,
		"func (t) Close() {}":                           0,
		"type t struct{}":                               1,
		"type t struct{} // a seat, and who sits there": 0,
		"// An I is a source of random numbers.\ntype I interface{ A(); B() }":        2,
		"// The kinds.\nconst (\n\tA = 1\n\tB = 2 // the other\n)\nvar C, D = 1, 2\n": 2,
	} {
		require.Len(t, speechless("a.go", "package a\n"+text), want, text)
	}
}
