package flatten

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// reach finds the declarations that main needs. A method is needed if it is called, or if its type is needed and the
// method is called through a needed interface that the type implements. Interface methods of the module that are
// never called are left out of their interfaces too.
func (p *program) reach() {
	r := &reacher{program: p, walked: map[ast.Node]bool{}, uncalled: map[string][]part{},
		unmentioned: map[types.Object]part{}}
	r.stdlibInterfaces()
	r.mark(p.pkgs[len(p.pkgs)-1].Types.Scope().Lookup("main"))
	for before := -1; before != len(p.live)+len(p.called); {
		before = len(p.live) + len(p.called)
		r.satisfy()
	}
}

type reacher struct {
	*program
	named       []*types.TypeName  // needed types of the module
	ifaces      []*types.Interface // needed interfaces, of the module and of the standard library
	walked      map[ast.Node]bool
	uncalled    map[string][]part     // methods of the module's needed interfaces, by name, until they are called
	unmentioned map[types.Object]part // fields of needed structs, until they are mentioned
}

// A part is one method in the source of an interface, or one field in that of a struct.
type part struct {
	pkg   *packages.Package
	field *ast.Field
}

// mark makes obj needed, and everything that its declaration mentions.
func (r *reacher) mark(obj types.Object) {
	if f, ok := obj.(*types.Func); ok {
		obj = f.Origin()
	}
	d := r.decls[obj]
	if d == nil || r.live[obj] {
		return
	}
	r.live[obj] = true
	switch {
	case d.fn != nil && d.fn.Body == nil:
		r.refuse(d.fn.Pos(), "%s has no body in Go: build tags %s must select one", obj.Name(), buildTags)
	case d.embed:
		r.refuse(d.spec.Pos(), "%s may be an embedded file, which one source file cannot have", obj.Name())
	case d.group: // it is printed whole
		for _, s := range d.gen.Specs {
			r.walk(d.pkg, s)
		}
		return
	}
	if tn, ok := obj.(*types.TypeName); ok {
		r.named = append(r.named, tn)
		if it, ok := tn.Type().Underlying().(*types.Interface); ok {
			r.ifaces = append(r.ifaces, it)
		}
	}
	for _, o := range d.objs {
		r.live[o] = true
	}
	r.walk(d.pkg, d.node())
}

// walk marks everything that node mentions.
func (r *reacher) walk(pkg *packages.Package, node ast.Node) {
	if r.walked[node] {
		return
	}
	r.walked[node] = true
	info := pkg.TypesInfo
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.InterfaceType:
			r.walkInterface(pkg, n)
			return false
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				r.walkStruct(pkg, s)
				return false
			}
		case *ast.CompositeLit:
			if len(n.Elts) > 0 {
				if _, named := n.Elts[0].(*ast.KeyValueExpr); !named {
					r.mentionAll(info.TypeOf(n))
				}
			}
		case *ast.TypeAssertExpr:
			r.callAll(info.TypeOf(n.Type))
		case *ast.CaseClause:
			for _, x := range n.List {
				if tv := info.Types[x]; tv.IsType() {
					r.callAll(tv.Type)
				}
			}
		case *ast.Ident:
			r.use(info, n)
		}
		return true
	})
}

// walkInterface marks what an interface embeds. Its own methods are marked when they are called.
func (r *reacher) walkInterface(pkg *packages.Package, n *ast.InterfaceType) {
	if it, ok := pkg.TypesInfo.TypeOf(n).(*types.Interface); ok {
		r.ifaces = append(r.ifaces, it)
	}
	for _, f := range n.Methods.List {
		if len(f.Names) == 1 && !r.called[f.Names[0].Name] {
			r.uncalled[f.Names[0].Name] = append(r.uncalled[f.Names[0].Name], part{pkg, f})
		} else {
			r.walk(pkg, f)
		}
	}
}

// call makes every method with that name in the module's needed interfaces needed.
func (r *reacher) call(name string) {
	if !r.called[name] {
		r.called[name] = true
		for _, s := range r.uncalled[name] {
			r.walk(s.pkg, s.field)
		}
	}
}

// callAll is for the type of an assertion or of a case: if it is an interface, all its methods decide the outcome.
func (r *reacher) callAll(t types.Type) {
	if t == nil { // x.(type)
		return
	}
	it, ok := t.Underlying().(*types.Interface)
	for k := 0; ok && k < it.NumMethods(); k++ {
		r.call(it.Method(k).Name())
	}
}

// use marks what an identifier refers to.
func (r *reacher) use(info *types.Info, id *ast.Ident) {
	switch obj := info.Uses[id].(type) {
	case nil:
	case *types.PkgName:
		pkg := obj.Imported()
		if r.info[pkg] != nil {
			return
		}
		if first, _, _ := strings.Cut(pkg.Path(), "/"); strings.Contains(first, ".") {
			r.refuse(id.Pos(), "%s is not in the standard library", pkg.Path())
		}
		r.imports[pkg.Path()] = pkg.Name()
	default:
		if pkg := obj.Pkg(); pkg != nil && r.info[pkg] == nil {
			r.stdlibUses = append(r.stdlibUses, stdlibUse{obj, id.Pos()})
			if reflects[pkg.Path()] && !r.reflects {
				r.reflects = true
				for _, p := range r.unmentioned {
					r.walk(p.pkg, p.field)
				}
			}
			return
		}
		if v, ok := obj.(*types.Var); ok && v.IsField() {
			r.mention(v)
			return
		}
		if f, ok := obj.(*types.Func); ok {
			if recv := f.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
				r.call(f.Name())
				return
			}
		}
		r.mark(obj)
	}
}

// stdlibInterfaces collects every interface through which the standard library could call the module's types.
func (r *reacher) stdlibInterfaces() {
	r.ifaces = append(r.ifaces, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
	seen := map[*types.Package]bool{}
	var visit func(pkg *types.Package)
	visit = func(pkg *types.Package) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		for _, im := range pkg.Imports() {
			visit(im)
		}
		if r.info[pkg] != nil {
			return
		}
		for _, name := range pkg.Scope().Names() {
			tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || !tn.Exported() {
				continue
			}
			if it, ok := tn.Type().Underlying().(*types.Interface); ok {
				r.ifaces = append(r.ifaces, it)
			}
		}
	}
	for _, pkg := range r.pkgs {
		visit(pkg.Types)
	}
}

// satisfy marks the methods with which needed types implement needed interfaces.
func (r *reacher) satisfy() {
	for i := 0; i < len(r.named); i++ {
		t := r.named[i].Type()
		if types.IsInterface(t) {
			continue
		}
		ptr := types.NewPointer(t)
		set := types.NewMethodSet(ptr)
		for j := 0; j < len(r.ifaces); j++ {
			it := r.ifaces[j]
			if it.NumMethods() == 0 || !it.IsMethodSet() || !types.Implements(ptr, it) {
				continue
			}
			for k := 0; k < it.NumMethods(); k++ {
				m := it.Method(k)
				if r.info[m.Pkg()] != nil && !r.called[m.Name()] {
					continue
				}
				if sel := set.Lookup(m.Pkg(), m.Name()); sel != nil {
					r.mark(sel.Obj())
				}
			}
		}
	}
}
