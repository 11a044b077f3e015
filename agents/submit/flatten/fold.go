package flatten

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// foldFile replaces if statements whose condition is known by the branch that is taken. See decide.
func foldFile(info *types.Info, f *ast.File) {
	astutil.Apply(f, nil, func(c *astutil.Cursor) bool {
		s, ok := c.Node().(*ast.IfStmt)
		if !ok || s.Init != nil {
			return true
		}
		holds, known := decide(info, s.Cond)
		if !known {
			return true
		}
		var taken ast.Stmt = s.Body
		if !holds {
			taken = s.Else
		}
		if taken == nil {
			taken = &ast.BlockStmt{Lbrace: s.Pos(), Rbrace: s.End()}
		}
		c.Replace(taken)
		return true
	})
	astutil.Apply(f, nil, func(c *astutil.Cursor) bool {
		switch s := c.Node().(type) {
		case *ast.BlockStmt:
			s.List = spliced(s.List)
		case *ast.CaseClause:
			s.Body = spliced(s.Body)
		}
		return true
	})
}

// decide returns the value of a condition that is a constant, or is decided by the first operand of its && or ||.
func decide(info *types.Info, cond ast.Expr) (holds, known bool) {
	if v := info.Types[cond].Value; v != nil && v.Kind() == constant.Bool {
		return constant.BoolVal(v), true
	}
	if b, ok := cond.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
		holds, known = decide(info, b.X)
		return holds, known && holds == (b.Op == token.LOR)
	}
	return false, false
}

// spliced removes the braces of inner blocks that declare nothing, and the statements after a return.
func spliced(list []ast.Stmt) []ast.Stmt {
	var out []ast.Stmt
	for _, s := range list {
		if b, ok := s.(*ast.BlockStmt); ok && !slices.ContainsFunc(b.List, declares) {
			out = append(out, b.List...)
		} else {
			out = append(out, s)
		}
	}
	for i, s := range out {
		if is[*ast.ReturnStmt](s) && !slices.ContainsFunc(out[i+1:], is[*ast.LabeledStmt]) {
			return out[:i+1]
		}
	}
	return out
}

func is[T ast.Stmt](s ast.Stmt) bool {
	_, ok := s.(T)
	return ok
}

func declares(s ast.Stmt) bool {
	a, assign := s.(*ast.AssignStmt)
	return is[*ast.DeclStmt](s) || assign && a.Tok == token.DEFINE
}

// foldTypes removes the default clauses of type switches that no value can take: the switch is over an interface, and
// every type in the program that implements it also implements the interface of another clause. What only the default
// clause needs is then not reached.
func (p *program) foldTypes(info *types.Info, f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.TypeSwitchStmt)
		if !ok {
			return true
		}
		var operand ast.Expr // of x.(type)
		switch a := s.Assign.(type) {
		case *ast.AssignStmt:
			operand = a.Rhs[0]
		case *ast.ExprStmt:
			operand = a.X
		}
		from := info.TypeOf(operand.(*ast.TypeAssertExpr).X)
		takes := func(x ast.Expr) bool { return p.always(from, info.TypeOf(x)) }
		if slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool {
			return slices.ContainsFunc(c.(*ast.CaseClause).List, takes)
		}) {
			s.Body.List = slices.DeleteFunc(s.Body.List, func(c ast.Stmt) bool { return c.(*ast.CaseClause).List == nil })
		}
		return true
	})
}

// always reports whether every type of the program that implements the interface from also implements the interface to.
func (p *program) always(from, to types.Type) bool {
	all, ok := from.Underlying().(*types.Interface)
	one, ok2 := to.Underlying().(*types.Interface)
	if named, ok3 := from.(*types.Named); !ok || !ok2 || !ok3 || p.info[named.Obj().Pkg()] == nil {
		return false // or types outside the program may implement it
	}
	found := false
	for _, pkg := range p.pkgs {
		for _, name := range pkg.Types.Scope().Names() {
			tn, ok := pkg.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok || types.IsInterface(tn.Type()) || !types.Implements(types.NewPointer(tn.Type()), all) {
				continue
			}
			found = true
			if !types.Implements(types.NewPointer(tn.Type()), one) {
				return false
			}
		}
	}
	return found
}
