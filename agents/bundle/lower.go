package bundle

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// lower writes out, in needed declarations, the language newer than Lang: min, max,
// clear, any, ranges over integers, loop variables that live one turn each.
func (p *program) lower() error {
	for _, d := range p.order {
		if !p.kept(d) {
			continue
		}
		var node ast.Node = d.fn
		if d.fn == nil {
			node = d.spec
		}
		l := &lowerer{program: p, info: d.pkg.TypesInfo}
		astutil.Apply(node, nil, l.visit)
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

type lowerer struct {
	*program
	info *types.Info
	err  error
}

func (l *lowerer) refuse(n ast.Node, format string, args ...interface{}) {
	if l.err == nil {
		l.err = fmt.Errorf("%s: %s", l.at(n.Pos()), fmt.Sprintf(format, args...))
	}
}

// visit is called for every node after its children.
func (l *lowerer) visit(c *astutil.Cursor) bool {
	switch n := c.Node().(type) {
	case *ast.Ident:
		if obj := l.info.Uses[n]; obj != nil && obj == types.Universe.Lookup("any") {
			c.Replace(&ast.InterfaceType{Interface: n.Pos(), Methods: &ast.FieldList{Opening: n.Pos(), Closing: n.Pos()}})
		}
	case *ast.CallExpr:
		if name := l.builtin(n); name == "min" || name == "max" {
			c.Replace(l.minmax(name, n))
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && l.builtin(call) == "clear" {
			c.Replace(l.clear(call))
		}
	case *ast.RangeStmt:
		c.Replace(l.rangeLoop(n))
	case *ast.ForStmt:
		l.forLoop(n)
	}
	return l.err == nil
}

func (l *lowerer) builtin(call *ast.CallExpr) string {
	if id, ok := call.Fun.(*ast.Ident); ok {
		if b, ok := l.info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

// minmax turns min(a, b, c) into minInt(minInt(a, b), c), with minInt made to measure.
func (l *lowerer) minmax(name string, call *ast.CallExpr) ast.Expr {
	tv := l.info.Types[call]
	if tv.Value != nil {
		return literal(call.Pos(), tv.Value)
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	if !ok {
		l.refuse(call, "%s of %s", name, tv.Type)
		return call
	}
	kind := basic.Name()
	helper := name + strings.ToUpper(kind[:1]) + kind[1:]
	sign := map[string]string{"min": "<", "max": ">"}[name]
	test := "a " + sign + " b"
	if basic.Info()&types.IsFloat != 0 {
		test += " || a != a"
	}
	l.extra[helper] = fmt.Sprintf("func %s(a, b %s) %s {\nif %s {\nreturn a\n}\nreturn b\n}\n", helper, kind, kind, test)
	named := types.Unalias(tv.Type) != types.Type(basic)
	arg := func(x ast.Expr) ast.Expr {
		if !named {
			return x
		}
		return &ast.CallExpr{Fun: ast.NewIdent(kind), Args: []ast.Expr{x}}
	}
	out := arg(call.Args[0])
	for _, x := range call.Args[1:] {
		out = &ast.CallExpr{Fun: ast.NewIdent(helper), Args: []ast.Expr{out, arg(x)}}
	}
	if named {
		out = &ast.CallExpr{Fun: l.typeExpr(call, tv.Type), Args: []ast.Expr{out}}
	}
	return out
}

func literal(pos token.Pos, v constant.Value) ast.Expr {
	kind := token.INT
	switch v.Kind() {
	case constant.Float:
		kind = token.FLOAT
	case constant.String:
		kind = token.STRING
	}
	return &ast.BasicLit{ValuePos: pos, Kind: kind, Value: v.ExactString()}
}

// typeExpr names a basic type, one of ours or one of the library's.
func (l *lowerer) typeExpr(at ast.Node, t types.Type) ast.Expr {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return ast.NewIdent(t.Name())
	case *types.Named:
		id := ast.NewIdent(t.Obj().Name())
		l.info.Uses[id] = t.Obj()
		pkg := t.Obj().Pkg()
		if l.live[t.Obj()] {
			return id
		}
		if pkg != nil && l.program.info[pkg] == nil && t.Obj().Exported() {
			l.imports[pkg.Path()] = pkg.Name()
			x := ast.NewIdent(pkg.Name())
			l.info.Uses[x] = types.NewPkgName(at.Pos(), nil, pkg.Name(), pkg)
			return &ast.SelectorExpr{X: x, Sel: id}
		}
	}
	l.refuse(at, "cannot write out type %s", t)
	return ast.NewIdent("int")
}

// clear turns clear(x) into the loop it stands for.
func (l *lowerer) clear(call *ast.CallExpr) ast.Stmt {
	x := call.Args[0]
	switch x.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		l.refuse(call, "clear of more than a plain variable")
	}
	key := ast.NewIdent(l.fresh("i"))
	body := &ast.BlockStmt{Lbrace: call.Pos(), Rbrace: call.End()}
	switch t := l.info.TypeOf(x).Underlying().(type) {
	case *types.Map:
		body.List = []ast.Stmt{&ast.ExprStmt{X: &ast.CallExpr{Fun: ast.NewIdent("delete"), Args: []ast.Expr{x, key}}}}
	case *types.Slice:
		body.List = []ast.Stmt{&ast.AssignStmt{Lhs: []ast.Expr{&ast.IndexExpr{X: x, Index: key}},
			Tok: token.ASSIGN, Rhs: []ast.Expr{l.zero(call, t.Elem())}}}
	}
	return &ast.RangeStmt{For: call.Pos(), Key: key, Tok: token.DEFINE, X: x, Body: body}
}

func (l *lowerer) zero(at ast.Node, t types.Type) ast.Expr {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return ast.NewIdent("false")
		case u.Info()&types.IsString != 0:
			return &ast.BasicLit{Kind: token.STRING, Value: `""`}
		}
		return &ast.BasicLit{Kind: token.INT, Value: "0"}
	case *types.Struct, *types.Array:
		return &ast.CompositeLit{Type: l.typeExpr(at, t)}
	}
	return ast.NewIdent("nil")
}

func (p *program) fresh(stem string) string {
	p.nextName++
	return fmt.Sprintf("%s_%d", stem, p.nextName)
}
