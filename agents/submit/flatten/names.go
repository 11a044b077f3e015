package flatten

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// name gives every needed package-level object a unique name in the flattened program. Of several objects with one
// name, the most used one keeps it; the others get their package's name in front. Exported names stay exported.
func (p *program) name() {
	taken := map[string]bool{"_": true}
	for _, n := range types.Universe.Names() {
		taken[n] = true
	}
	local, ambiguous := map[string]bool{}, map[types.Object]bool{}
	for _, d := range p.order {
		if p.kept(d) {
			p.findNames(d, local, ambiguous)
		}
	}
	p.nameImports(taken, local)
	for _, o := range p.byUse() {
		name := o.Name()
		if taken[name] || ambiguous[o] {
			base := prefixed(o)
			name = base
			for i := 2; taken[name] || local[name]; i++ {
				name = fmt.Sprintf("%s%d", base, i)
			}
		}
		taken[name] = true
		p.names[o] = name
	}
}

// byUse lists the needed package-level objects: main, then those whose names would cost the most characters with the
// name of their package in front.
func (p *program) byUse() []types.Object {
	uses := map[types.Object]int{}
	for _, pkg := range p.pkgs {
		for _, obj := range pkg.TypesInfo.Uses {
			uses[obj]++
		}
	}
	main := p.pkgs[len(p.pkgs)-1].Types
	uses[main.Scope().Lookup("main")] = 1 << 30
	var objs []types.Object
	for _, d := range p.order {
		for _, o := range d.objs {
			if p.live[o] && o.Parent() == d.pkg.Types.Scope() {
				objs = append(objs, o)
			}
		}
	}
	cost := func(o types.Object) int { return uses[o] * len(o.Pkg().Name()) } // of a prefix
	slices.SortStableFunc(objs, func(a, b types.Object) int { return cost(b) - cost(a) })
	return objs
}

// findNames adds to local the names that are declared inside d: no package-level object may be renamed to one of
// them. It adds to ambiguous the objects of other packages whose bare names mean something else where d mentions
// them.
func (p *program) findNames(d *decl, local map[string]bool, ambiguous map[types.Object]bool) {
	info, own := d.pkg.TypesInfo, d.pkg.Types.Scope()
	ast.Inspect(d.node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if obj := info.Defs[n]; obj != nil && obj.Parent() != own {
				local[n.Name] = true
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || p.decls[info.Uses[n.Sel]] == nil {
				break
			}
			scope := own.Innermost(n.Pos())
			if _, ok := info.Uses[x].(*types.PkgName); !ok || scope == nil {
				break
			}
			at, _ := scope.LookupParent(n.Sel.Name, n.Pos())
			if at != nil && at != types.Universe && at != own && at.Parent() != own {
				ambiguous[info.Uses[n.Sel]] = true
			}
		}
		return true
	})
}

// prefixed is the name of o with the name of its package in front.
func prefixed(o types.Object) string {
	pkg := o.Pkg().Name()
	if o.Exported() {
		pkg = strings.ToUpper(pkg[:1]) + pkg[1:]
	}
	return pkg + strings.ToUpper(o.Name()[:1]) + o.Name()[1:]
}

// nameImports chooses the name under which each standard package is imported.
func (p *program) nameImports(taken, local map[string]bool) {
	for _, path := range slices.Sorted(maps.Keys(p.imports)) {
		name := p.imports[path]
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("%s%d", p.imports[path], i)
			if local[name] {
				name += "lib"
			}
		}
		taken[name] = true
		p.imports[path] = name
	}
}

// kept reports whether any object of d is needed.
func (p *program) kept(d *decl) bool {
	return slices.ContainsFunc(d.objs, func(o types.Object) bool { return p.live[o] })
}
