package flatten

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/packages"
)

// collect lists the declarations of one package.
func (p *program) collect(pkg *packages.Package) error {
	for _, f := range pkg.Syntax {
		for _, im := range f.Imports {
			if im.Name != nil && im.Name.Name == "." {
				return fmt.Errorf("%s: dot import: name the package", p.at(im.Pos()))
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					return fmt.Errorf("%s: func init: initialize the variables where they are declared", p.at(d.Pos()))
				}
				p.add(&decl{pkg: pkg, fn: d}, d.Name)
			case *ast.GenDecl:
				p.collectGroup(pkg, d)
			}
		}
	}
	return nil
}

func (p *program) collectGroup(pkg *packages.Package, g *ast.GenDecl) {
	group := g.Tok == token.CONST && inSequence(g)
	for _, s := range g.Specs {
		d := &decl{pkg: pkg, gen: g, spec: s, group: group}
		switch s := s.(type) {
		case *ast.TypeSpec:
			p.add(d, s.Name)
		case *ast.ValueSpec:
			p.add(d, s.Names...)
		}
	}
}

// inSequence reports whether the values of a group of constants depend on their places in it.
func inSequence(g *ast.GenDecl) bool {
	found := false
	for _, s := range g.Specs {
		v := s.(*ast.ValueSpec)
		found = found || len(v.Values) == 0
		for _, x := range v.Values {
			ast.Inspect(x, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				found = found || ok && id.Name == "iota"
				return true
			})
		}
	}
	return found
}

func (p *program) add(d *decl, names ...*ast.Ident) {
	for _, id := range names {
		if obj := d.pkg.TypesInfo.Defs[id]; obj != nil && id.Name != "_" {
			d.objs = append(d.objs, obj)
			p.decls[obj] = d
		}
	}
	p.order = append(p.order, d)
}

// embedsFile reports whether d has a //go:embed directive.
func embedsFile(d *decl) bool {
	docs := []*ast.CommentGroup{d.gen.Doc}
	if v, ok := d.spec.(*ast.ValueSpec); ok {
		docs = append(docs, v.Doc)
	}
	for _, g := range docs {
		if g == nil {
			continue
		}
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, "//go:embed ") {
				return true
			}
		}
	}
	return false
}
