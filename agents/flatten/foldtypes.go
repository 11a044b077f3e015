package flatten

import (
	"go/ast"
	"go/types"
	"slices"
)

// foldTypes removes the default clauses of type switches that no value can take: the switch is over an interface, and
// every type in the program that implements it also implements the interface of another clause. What only the default
// clause needs is then not reached.
func (p *program) foldTypes(info *types.Info, f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.TypeSwitchStmt)
		if !ok {
			return true
		}
		taken := false
		for _, c := range s.Body.List {
			for _, x := range c.(*ast.CaseClause).List {
				taken = taken || p.always(info.TypeOf(operand(s)), info.TypeOf(x))
			}
		}
		if taken {
			s.Body.List = slices.DeleteFunc(s.Body.List, func(c ast.Stmt) bool { return c.(*ast.CaseClause).List == nil })
		}
		return true
	})
}

// operand returns the expression whose type a switch asks for.
func operand(s *ast.TypeSwitchStmt) ast.Expr {
	var x ast.Expr
	switch a := s.Assign.(type) {
	case *ast.AssignStmt:
		x = a.Rhs[0]
	case *ast.ExprStmt:
		x = a.X
	}
	return x.(*ast.TypeAssertExpr).X
}

// always reports whether every type of the program that implements the interface from also implements the interface
// to.
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
