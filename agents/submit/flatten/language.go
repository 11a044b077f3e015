package flatten

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// importerFunc adapts a function to types.Importer.
type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// findNewerLanguage type-checks every package again as a compiler of Lang would. The packages are correct in the
// module's own language version, so whatever is wrong now is newer than Lang. The syntax must still be as it was
// parsed.
func (p *program) findNewerLanguage() {
	for _, pkg := range p.pkgs {
		again := types.Config{
			GoVersion: Lang,
			Sizes:     pkg.TypesSizes,
			Importer: importerFunc(func(path string) (*types.Package, error) {
				if path == "unsafe" {
					return types.Unsafe, nil
				}
				return pkg.Imports[path].Types, nil
			}),
			Error: func(err error) {
				if e := (types.Error{}); errors.As(err, &e) {
					p.newer = append(p.newer, e)
				}
			},
		}
		_, _ = again.Check(pkg.PkgPath, p.fset, pkg.Syntax, nil) // every error went to again.Error
	}
}

// checkLanguage refuses language newer than Lang in needed declarations. It also refuses loop variables that outlive
// their iteration: before Go 1.22 all iterations share one variable, so the flattened program would compile and
// behave differently.
func (p *program) checkLanguage() {
	for _, d := range p.order {
		if !p.kept(d) {
			continue
		}
		node := d.node()
		for _, e := range p.newer {
			if node.Pos() <= e.Pos && e.Pos < node.End() {
				p.refuse(e.Pos, "%s, and a flattened program is in %s: write it out", e.Msg, Lang)
			}
		}
		l := loops{info: d.pkg.TypesInfo}
		ast.Inspect(node, l.visit)
		if l.shared != nil {
			p.refuse(l.shared.Pos(), "loop variable %s is captured or its address is taken, and in %s all iterations share it: "+
				"copy it to another variable first", l.shared.Name, Lang)
		}
	}
}

// loops finds a loop variable that can outlive its iteration.
type loops struct {
	info   *types.Info
	shared *ast.Ident
}

func (l *loops) visit(n ast.Node) bool {
	switch s := n.(type) {
	case *ast.RangeStmt:
		if s.Tok == token.DEFINE {
			l.check(s, s.Key, s.Value)
		}
	case *ast.ForStmt:
		if init, ok := s.Init.(*ast.AssignStmt); ok && init.Tok == token.DEFINE {
			l.check(s, init.Lhs...)
		}
	}
	return l.shared == nil
}

func (l *loops) check(loop ast.Node, vars ...ast.Expr) {
	for _, x := range vars {
		if id, ok := x.(*ast.Ident); ok && l.info.Defs[id] != nil && l.escapes(loop, l.info.Defs[id]) {
			l.shared = id
		}
	}
}

// escapes reports whether a function literal in loop mentions the variable, or its address is taken.
func (l *loops) escapes(loop ast.Node, variable types.Object) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(m ast.Node) bool {
				id, ok := m.(*ast.Ident)
				found = found || ok && l.info.Uses[id] == variable
				return !found
			})
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && l.partOf(n.X, variable)
		case *ast.SliceExpr: // of an array: the slice points into the variable
			found = found || l.isArray(n.X) && l.partOf(n.X, variable)
		case *ast.SelectorExpr: // a method with a pointer receiver takes the address
			if sel := l.info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal && l.partOf(n.X, variable) {
				_, byPointer := sel.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
				found = found || byPointer && !sel.Indirect()
			}
		}
		return !found
	})
	return found
}

func (l *loops) isArray(x ast.Expr) bool {
	_, ok := l.info.TypeOf(x).Underlying().(*types.Array)
	return ok
}

// partOf reports whether x is the variable or inside it. What the variable points to is not.
func (l *loops) partOf(x ast.Expr, variable types.Object) bool {
	for {
		switch n := x.(type) {
		case *ast.Ident:
			return l.info.Uses[n] == variable
		case *ast.ParenExpr:
			x = n.X
		case *ast.SelectorExpr:
			if sel := l.info.Selections[n]; sel == nil || sel.Indirect() {
				return false
			}
			x = n.X
		case *ast.IndexExpr:
			if !l.isArray(n.X) {
				return false
			}
			x = n.X
		default:
			return false
		}
	}
}

// A stdlibUse is one mention of something in the standard library.
type stdlibUse struct {
	obj types.Object
	pos token.Pos
}

// checkLibrary refuses functions, types and variables that the standard library gained after Lang. It reads the lists
// of additions in the folder api of the Go distribution. If that folder is missing, nothing is refused; then only a
// compiler of version Lang can tell.
func (p *program) checkLibrary() {
	since, err := additions()
	if p.err = err; err != nil {
		return
	}
	for _, u := range p.stdlibUses {
		if version := since[libraryName(u.obj)]; version != "" {
			p.refuse(u.pos, "%s came with %s, and a flattened program is in %s: write it out",
				libraryName(u.obj), version, Lang)
		}
	}
}

// libraryName is "path.Name", or "path.Type.Name" of a method or field.
func libraryName(obj types.Object) string {
	if obj.Pkg() == nil {
		return obj.Name()
	}
	path := obj.Pkg().Path() + "."
	if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil {
		t := f.Signature().Recv().Type()
		if ptr, ok := t.(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if named, ok := t.(*types.Named); ok {
			return path + named.Obj().Name() + "." + obj.Name()
		}
	}
	return path + obj.Name()
}

// addition matches a line such as "pkg strings, func Cut(string, string) (string, string, bool) #46336".
var addition = regexp.MustCompile(
	`(?m)^pkg ([^ ,]+)(?: \([^)]*\))?, (func|method|type|var|const) (?:\(\*?(\w+)[^)]*\) )?(\w+)`)

// additions maps the names that came after Lang to the version that added them.
var additions = sync.OnceValues(func() (map[string]string, error) {
	newest, err := strconv.Atoi(strings.TrimPrefix(Lang, "go1."))
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "api", "go1*.txt"))
	if err != nil {
		return nil, err
	}
	old, since := map[string]bool{}, map[string]string{}
	for _, file := range files {
		version := strings.TrimSuffix(filepath.Base(file), ".txt")
		minor, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(version, "go1"), "."))
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range addition.FindAllStringSubmatch(string(text), -1) {
			name := m[1] + "." + m[4]
			if m[3] != "" {
				name = m[1] + "." + m[3] + "." + m[4]
			}
			if minor <= newest {
				old[name] = true
			} else if since[name] == "" {
				since[name] = version
			}
		}
	}
	for name := range old {
		delete(since, name)
	}
	return since, nil
})
