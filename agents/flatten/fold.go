package flatten

import (
	"go/ast"
	"go/constant"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// foldFile replaces every if statement whose condition is a constant by the branch that is taken, so that
// reach does not find what only the other branch needs.
func foldFile(info *types.Info, f *ast.File) {
	astutil.Apply(f, nil, func(c *astutil.Cursor) bool {
		s, ok := c.Node().(*ast.IfStmt)
		if !ok || s.Init != nil {
			return true
		}
		v := info.Types[s.Cond].Value
		if v == nil || v.Kind() != constant.Bool {
			return true
		}
		var taken ast.Stmt = s.Body
		if !constant.BoolVal(v) {
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

// spliced removes the braces of inner blocks that declare nothing, and the statements after a return.
func spliced(list []ast.Stmt) []ast.Stmt {
	var out []ast.Stmt
	for _, s := range list {
		if b, ok := s.(*ast.BlockStmt); ok && !declares(b) {
			out = append(out, b.List...)
		} else {
			out = append(out, s)
		}
	}
	for i, s := range out {
		if _, ok := s.(*ast.ReturnStmt); ok && !labelled(out[i+1:]) {
			return out[:i+1]
		}
	}
	return out
}

func declares(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		switch s := s.(type) {
		case *ast.DeclStmt:
			return true
		case *ast.AssignStmt:
			if s.Tok.String() == ":=" {
				return true
			}
		}
	}
	return false
}

func labelled(list []ast.Stmt) bool {
	for _, s := range list {
		if _, ok := s.(*ast.LabeledStmt); ok {
			return true
		}
	}
	return false
}
