package flatten

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// foldFile replaces every if statement whose condition is known by the branch that is taken, so that reach does not
// find what only the other branch needs. See decide.
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

// decide returns the value of a condition, if it is known: it is a constant, or the first operand of its && or || is
// known and decides it.
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
		if _, ok := s.(*ast.ReturnStmt); ok && !slices.ContainsFunc(out[i+1:], labelled) {
			return out[:i+1]
		}
	}
	return out
}

func declares(s ast.Stmt) bool {
	_, decl := s.(*ast.DeclStmt)
	a, assign := s.(*ast.AssignStmt)
	return decl || assign && a.Tok == token.DEFINE
}

func labelled(s ast.Stmt) bool {
	_, ok := s.(*ast.LabeledStmt)
	return ok
}
