package flatten

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/packages"
)

// collect lists the declarations of all packages.
func (p *program) collect() {
	for _, pkg := range p.pkgs {
		for _, f := range pkg.Syntax {
			embeds := false
			for _, im := range f.Imports {
				embeds = embeds || im.Path.Value == `"embed"`
				if im.Name != nil && im.Name.Name == "." {
					p.refuse(im.Pos(), "dot import: name the package")
				}
			}
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil && d.Name.Name == "init" {
						p.refuse(d.Pos(), "func init: initialize the variables where they are declared")
					}
					p.add(&decl{pkg: pkg, fn: d}, d.Name)
				case *ast.GenDecl:
					p.collectGroup(pkg, d, embeds)
				}
			}
		}
	}
}

func (p *program) collectGroup(pkg *packages.Package, g *ast.GenDecl, embeds bool) {
	group := g.Tok == token.CONST && inSequence(g)
	for _, s := range g.Specs {
		d := &decl{pkg: pkg, gen: g, spec: s, group: group}
		switch s := s.(type) {
		case *ast.TypeSpec:
			p.add(d, s.Name)
		case *ast.ValueSpec:
			d.embed = embeds && g.Tok == token.VAR && len(s.Values) == 0
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
