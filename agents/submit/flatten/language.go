package flatten

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	goversion "go/version"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// An importerFunc makes a function a types.Importer, by which the type checker finds packages.
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
		node, info := d.node, d.pkg.TypesInfo
		ast.Inspect(node, func(n ast.Node) bool {
			p.define(info, n)
			return true
		})
		for _, e := range p.newer {
			if node.Pos() <= e.Pos && e.Pos < node.End() && p.defined[e.Pos] == "" {
				p.refuse(e.Pos, "%s, and a flattened program is in %s: write it out", e.Msg, Lang)
			}
		}
		ast.Inspect(node, func(n ast.Node) bool {
			for _, x := range loopVariables(n) {
				if id, ok := x.(*ast.Ident); ok && info.Defs[id] != nil && escapes(info, n, info.Defs[id]) {
					p.refuse(id.Pos(), "loop variable %s is captured or its address is taken, and in %s all iterations share it: "+
						"copy it to another variable first", id.Name, Lang)
				}
			}
			return true
		})
	}
}

// orders are the comparisons of a and b after which the built-in functions that Lang does not have return b.
var orders = map[string]string{"max": "<", "min": ">"}

// define has the flattened program define the function that a node calls: one of orders, with two whole numbers.
func (p *program) define(info *types.Info, n ast.Node) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return
	}
	id, isName := call.Fun.(*ast.Ident)
	of, isBasic := info.TypeOf(call).(*types.Basic)
	if !isName || !isBasic || of.Info()&(types.IsInteger|types.IsUntyped) != types.IsInteger || orders[id.Name] == "" ||
		info.Uses[id] != types.Universe.Lookup(id.Name) {
		return
	}
	name := id.Name + strings.ToUpper(of.Name()[:1]) + of.Name()[1:]
	p.defined[id.Pos()] = name
	p.definitions[name] = fmt.Sprintf("\nfunc %s(a, b %[2]s) %[2]s {\n\tif a %s b {\n\t\treturn b\n\t}\n\treturn a\n}\n",
		name, of.Name(), orders[id.Name])
}

func loopVariables(n ast.Node) []ast.Expr {
	switch s := n.(type) {
	case *ast.RangeStmt:
		return []ast.Expr{s.Key, s.Value}
	case *ast.ForStmt:
		if init, ok := s.Init.(*ast.AssignStmt); ok {
			return init.Lhs
		}
	}
	return nil
}

// escapes reports whether a function literal in loop mentions the variable, or its address is taken.
func escapes(info *types.Info, loop ast.Node, variable types.Object) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(m ast.Node) bool {
				id, ok := m.(*ast.Ident)
				found = found || ok && info.Uses[id] == variable
				return !found
			})
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && partOf(info, n.X, variable)
		case *ast.SliceExpr: // of an array: the slice points into the variable
			found = found || isArray(info, n.X) && partOf(info, n.X, variable)
		case *ast.SelectorExpr: // a method with a pointer receiver takes the address
			if sel := info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal && partOf(info, n.X, variable) {
				_, byPointer := sel.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
				found = found || byPointer && !sel.Indirect()
			}
		}
		return !found
	})
	return found
}

func isArray(info *types.Info, x ast.Expr) bool {
	_, ok := info.TypeOf(x).Underlying().(*types.Array)
	return ok
}

// partOf reports whether x is the variable or inside it. What the variable points to is not.
func partOf(info *types.Info, x ast.Expr, variable types.Object) bool {
	switch n := x.(type) {
	case *ast.Ident:
		return info.Uses[n] == variable
	case *ast.ParenExpr:
		return partOf(info, n.X, variable)
	case *ast.SelectorExpr:
		sel := info.Selections[n]
		return sel != nil && !sel.Indirect() && partOf(info, n.X, variable)
	case *ast.IndexExpr:
		return isArray(info, n.X) && partOf(info, n.X, variable)
	}
	return false
}

// checkLibrary refuses functions, types and variables that the standard library gained after Lang. It reads the lists
// of additions in the folder api of the Go distribution. If that folder is missing, nothing is refused; then only a
// compiler of version Lang can tell.
func (p *program) checkLibrary(obj types.Object, pos token.Pos) {
	since, err := additions()
	if err != nil {
		p.refuse(pos, "%w", err)
	} else if name := libraryName(obj); since[name] != "" {
		p.refuse(pos, "%s came with %s, and a flattened program is in %s: write it out", name, since[name], Lang)
	}
}

// libraryName is "path.Name", or "path.Type.Name" of a method.
func libraryName(obj types.Object) string {
	name := obj.Name()
	if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil {
		t := f.Signature().Recv().Type()
		if ptr, ok := t.(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if named, ok := t.(*types.Named); ok {
			name = named.Obj().Name() + "." + name
		}
	}
	return obj.Pkg().Path() + "." + name
}

// addition matches a line such as "pkg strings, func Cut(string, string) (string, string, bool) #46336".
var addition = regexp.MustCompile(
	`(?m)^pkg ([^ ,]+)(?: \([^)]*\))?, (?:func|method|type|var|const) (?:\(\*?(\w+)[^)]*\) )?(\w+)`)

// additions maps the names that came after Lang to the version that added them.
var additions = sync.OnceValues(func() (map[string]string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "api", "go1*.txt"))
	if err != nil {
		return nil, err
	}
	since := map[string]string{}
	slices.SortFunc(files, func(a, b string) int { return goversion.Compare(versionOf(a), versionOf(b)) })
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range addition.FindAllStringSubmatch(string(text), -1) {
			name := strings.TrimPrefix(m[2]+"."+m[3], ".")
			if name = m[1] + "." + name; since[name] == "" {
				since[name] = versionOf(file)
			}
		}
	}
	maps.DeleteFunc(since, func(_, version string) bool { return goversion.Compare(version, Lang) <= 0 })
	return since, nil
})

// versionOf is the version of a list, such as go1.18 of go1.18.txt.
func versionOf(list string) string { return strings.TrimSuffix(filepath.Base(list), ".txt") }
