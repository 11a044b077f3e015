package bundle

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// name gives every needed package-level object a name of its own in the bundle. The
// program's own names stay; others get their package's name in front, and whether they
// are exported stays as it was.
func (p *program) name() {
	taken := map[string]bool{"_": true, "init": true}
	for _, n := range types.Universe.Names() {
		taken[n] = true
	}
	for n := range p.extra {
		taken[n] = true
	}
	p.nameImports(taken)
	shadowed := p.localNames()
	var objs []types.Object
	for _, d := range p.order {
		for _, o := range d.objs {
			if p.live[o] && o.Parent() == d.pkg.Types.Scope() && o.Name() != "init" {
				objs = append(objs, o)
			}
		}
	}
	main := p.pkgs[len(p.pkgs)-1].Types
	for _, own := range []bool{true, false} {
		for _, o := range objs {
			if (o.Pkg() == main) != own {
				continue
			}
			base := o.Name()
			if !own {
				base = prefixed(o)
			}
			name := base
			for i := 2; taken[name] || token.IsKeyword(name) || (name != o.Name() && shadowed[name]); i++ {
				name = fmt.Sprintf("%s%d", base, i)
			}
			taken[name] = true
			p.names[o] = name
		}
	}
}

func prefixed(o types.Object) string {
	pkg := o.Pkg().Name()
	r, n := utf8.DecodeRuneInString(o.Name())
	rest := string(unicode.ToUpper(r)) + o.Name()[n:]
	if o.Exported() {
		return strings.ToUpper(pkg[:1]) + pkg[1:] + rest
	}
	return pkg + rest
}

// nameImports settles under which name each library package is imported.
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

// localNames are the names declared inside needed functions: a package-level name that
// changes must not become one of them.
func (p *program) localNames() map[string]bool {
	names := map[string]bool{}
	for _, d := range p.order {
		var node ast.Node = d.fn
		if d.fn == nil {
			node = d.spec
		}
		if !p.kept(d) {
			continue
		}
		ast.Inspect(node, func(n ast.Node) bool {
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
