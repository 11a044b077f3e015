package bundle

import (
	"fmt"
	"go/ast"
	"go/types"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// name gives every needed package-level object a name of its own in the bundle: the one
// it has, where no other claims it more often, and else with its package's name in front.
// Whether a name is exported stays as it was.
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
	for _, o := range p.byUse() {
		name := o.Name()
		if taken[name] || p.captured(o) {
			base := prefixed(o)
			name = base
			for i := 2; taken[name] || shadowed[name]; i++ {
				name = fmt.Sprintf("%s%d", base, i)
			}
		}
		taken[name] = true
		p.names[o] = name
	}
}

// byUse lists the needed package-level objects: main, then the most mentioned first.
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
			if p.live[o] && o.Parent() == d.pkg.Types.Scope() && o.Name() != "init" {
				objs = append(objs, o)
			}
		}
	}
	sort.SliceStable(objs, func(i, j int) bool { return uses[objs[i]] > uses[objs[j]] })
	return objs
}

// captured reports whether somewhere outside its package o would mean something else if
// it were mentioned by its bare name, or could not be told from a field.
func (p *program) captured(o types.Object) bool {
	if p.captives == nil {
		p.captives = map[types.Object]bool{}
		for _, d := range p.order {
			if p.kept(d) {
				p.findCaptives(d)
			}
		}
	}
	return p.captives[o]
}

func (p *program) findCaptives(d *decl) {
	var node ast.Node = d.fn
	if d.fn == nil {
		node = d.spec
	}
	info := d.pkg.TypesInfo
	ast.Inspect(node, func(n ast.Node) bool {
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
			p.captives[info.Uses[sel.Sel]] = true
		}
		return true
	})
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
