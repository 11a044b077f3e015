package flatten

import (
	"fmt"
	"go/ast"
	"go/types"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// name gives every needed package-level object a unique name in the flattened program. Of several objects
// with one name, the most used one keeps it; the others get their package's name in front.
// Exported names stay exported.
func (p *program) name() {
	taken := map[string]bool{"_": true}
	for _, n := range types.Universe.Names() {
		taken[n] = true
	}
	p.nameImports(taken)
	local := p.localNames()
	for _, d := range p.order {
		if p.kept(d) {
			p.findAmbiguous(d)
		}
	}
	for _, o := range p.byUse() {
		name := o.Name()
		if taken[name] || p.ambiguous[o] {
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

// byUse lists the needed package-level objects: main, then those whose names would cost the most
// characters with the name of their package in front.
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
	sort.SliceStable(objs, func(i, j int) bool { return cost(objs[i]) > cost(objs[j]) })
	return objs
}

// findAmbiguous finds objects of other packages that their bare names would not denote where d mentions them.
func (p *program) findAmbiguous(d *decl) {
	info := d.pkg.TypesInfo
	ast.Inspect(d.node(), func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		if _, ok := info.Uses[x].(*types.PkgName); !ok || p.decls[info.Uses[sel.Sel]] == nil {
			return true
		}
		scope := d.pkg.Types.Scope().Innermost(sel.Pos())
		if scope == nil {
			return true
		}
		if at, _ := scope.LookupParent(sel.Sel.Name, sel.Pos()); at != nil && at != types.Universe &&
			at != d.pkg.Types.Scope() && at.Parent() != d.pkg.Types.Scope() {
			p.ambiguous[info.Uses[sel.Sel]] = true
		}
		return true
	})
}

// prefixed is the name of o with the name of its package in front.
func prefixed(o types.Object) string {
	pkg := o.Pkg().Name()
	r, n := utf8.DecodeRuneInString(o.Name())
	rest := string(unicode.ToUpper(r)) + o.Name()[n:]
	if o.Exported() {
		return strings.ToUpper(pkg[:1]) + pkg[1:] + rest
	}
	return pkg + rest
}

// nameImports chooses the name under which each standard package is imported.
func (p *program) nameImports(taken map[string]bool) {
	local := p.localNames()
	var paths []string
	for path := range p.imports {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	for _, path := range paths {
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

// localNames returns the names that are declared inside needed functions. A package-level object must not be
// renamed to one of them.
func (p *program) localNames() map[string]bool {
	names := map[string]bool{}
	for _, d := range p.order {
		if !p.kept(d) {
			continue
		}
		ast.Inspect(d.node(), func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if obj := d.pkg.TypesInfo.Defs[id]; obj != nil && obj.Parent() != d.pkg.Types.Scope() {
					names[id.Name] = true
				}
			}
			return true
		})
	}
	return names
}

// kept reports whether any object of d is needed.
func (p *program) kept(d *decl) bool {
	for _, o := range d.objs {
		if p.live[o] {
			return true
		}
	}
	return false
}
