package bundle

import (
	"go/ast"
	"go/token"
	"go/types"
)

// rangeLoop lowers a range statement: over an integer it becomes a loop that counts, over
// a function it is refused, and a variable that outlives its turn gets a copy per turn.
func (l *lowerer) rangeLoop(s *ast.RangeStmt) ast.Stmt {
	if s.X == nil || l.info.TypeOf(s.X) == nil { // made up by lowering itself
		return s
	}
	switch t := l.info.TypeOf(s.X).Underlying().(type) {
	case *types.Signature:
		l.refuse(s, "range over a function")
		return s
	case *types.Basic:
		if t.Info()&types.IsInteger != 0 {
			return l.count(s)
		}
	}
	if s.Tok == token.DEFINE {
		l.copyPerTurn(s.Body, s.Key, s.Value)
	}
	return s
}

// count turns "for i := range n" into "for i, end := 0, n; i < end; i++".
func (l *lowerer) count(s *ast.RangeStmt) ast.Stmt {
	if s.Tok == token.ASSIGN {
		l.refuse(s, "range over an integer into a variable from outside")
		return s
	}
	key, _ := s.Key.(*ast.Ident)
	body := s.Body
	var counter *ast.Ident
	switch {
	case key == nil || key.Name == "_":
		counter = ast.NewIdent(l.fresh("i"))
	case l.assigned(s.Body, key) || l.escapes(s.Body, key):
		counter = ast.NewIdent(l.fresh("i"))
		prepend(body, []*ast.Ident{key}, []ast.Expr{counter})
	default:
		counter = key
	}
	t := l.info.TypeOf(s.X)
	if key != nil && key.Name != "_" {
		t = l.info.Defs[key].Type()
	}
	var zero ast.Expr = &ast.BasicLit{Kind: token.INT, Value: "0"}
	constant := l.info.Types[s.X].Value != nil
	if types.Unalias(t) != types.Typ[types.Int] {
		zero = &ast.CallExpr{Fun: l.typeExpr(s, t), Args: []ast.Expr{zero}}
	}
	init := &ast.AssignStmt{Lhs: []ast.Expr{counter}, Tok: token.DEFINE, Rhs: []ast.Expr{zero}}
	limit := s.X
	if !constant {
		end := ast.NewIdent(l.fresh("end"))
		init.Lhs = append(init.Lhs, end)
		init.Rhs = append(init.Rhs, s.X)
		limit = end
	}
	return &ast.ForStmt{For: s.For, Init: init, Body: body,
		Cond: &ast.BinaryExpr{X: ast.NewIdent(counter.Name), Op: token.LSS, Y: limit},
		Post: &ast.IncDecStmt{X: ast.NewIdent(counter.Name), Tok: token.INC}}
}

// forLoop gives a three-clause loop's variables a copy per turn where they outlive it.
func (l *lowerer) forLoop(s *ast.ForStmt) {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE {
		return
	}
	for _, x := range init.Lhs {
		id, ok := x.(*ast.Ident)
		if !ok || l.info.Defs[id] == nil || !l.escapes(s.Body, id) {
			continue
		}
		if l.assigned(s.Body, id) {
			l.refuse(s, "loop variable %s is both changed and kept by the body", id.Name)
			return
		}
		l.copyPerTurn(s.Body, id, nil)
	}
}

func (l *lowerer) copyPerTurn(body *ast.BlockStmt, vars ...ast.Expr) {
	for _, x := range vars {
		if id, ok := x.(*ast.Ident); ok && id.Name != "_" && l.escapes(body, id) {
			prepend(body, []*ast.Ident{id}, []ast.Expr{ast.NewIdent(id.Name)})
		}
	}
}

// prepend puts "names := values" in front of body.
func prepend(body *ast.BlockStmt, names []*ast.Ident, values []ast.Expr) {
	s := &ast.AssignStmt{Tok: token.DEFINE, Rhs: values}
	for _, n := range names {
		s.Lhs = append(s.Lhs, ast.NewIdent(n.Name))
	}
	body.List = append([]ast.Stmt{s}, body.List...)
}

// assigned reports whether body gives the variable that id declares another value.
func (l *lowerer) assigned(body *ast.BlockStmt, id *ast.Ident) bool {
	obj, found := l.info.Defs[id], false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				found = found || l.rooted(x, obj)
			}
		case *ast.IncDecStmt:
			found = found || l.rooted(n.X, obj)
		case *ast.RangeStmt:
			found = found || n.Tok == token.ASSIGN && (l.rooted(n.Key, obj) || l.rooted(n.Value, obj))
		}
		return !found
	})
	return found
}

// escapes reports whether a function literal mentions the variable that id declares, or
// its address is taken: then turns of the loop could share it.
func (l *lowerer) escapes(body *ast.BlockStmt, id *ast.Ident) bool {
	obj, found := l.info.Defs[id], false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(m ast.Node) bool {
				if x, ok := m.(*ast.Ident); ok && l.info.Uses[x] == obj {
					found = true
				}
				return !found
			})
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && l.rooted(n.X, obj)
		case *ast.SliceExpr:
			found = found || l.isArray(n.X) && l.rooted(n.X, obj)
		case *ast.SelectorExpr:
			if sel := l.info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal && l.rooted(n.X, obj) {
				_, byPointer := sel.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
				_, isPointer := sel.Recv().Underlying().(*types.Pointer)
				found = found || byPointer && !isPointer
			}
		}
		return !found
	})
	return found
}

func (l *lowerer) isArray(x ast.Expr) bool {
	t := l.info.TypeOf(x)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// rooted reports whether x is the variable obj or a part of it.
func (l *lowerer) rooted(x ast.Expr, obj types.Object) bool {
	for {
		switch n := x.(type) {
		case *ast.Ident:
			return obj != nil && (l.info.Uses[n] == obj || l.info.Defs[n] == obj)
		case *ast.ParenExpr:
			x = n.X
		case *ast.SelectorExpr:
			x = n.X
		case *ast.IndexExpr:
			x = n.X
		default:
			return false
		}
	}
}
