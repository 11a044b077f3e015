package flatten

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// reach finds the declarations that main needs. A method is needed if it is called, or if its type is needed
// and the method is called through a needed interface that the type implements. Interface methods of
// the module that are never called are left out of their interfaces too.
func (p *program) reach() error {
	for _, pkg := range p.pkgs {
		if err := p.collect(pkg); err != nil {
			return err
		}
	}
	main := p.pkgs[len(p.pkgs)-1].Types.Scope().Lookup("main")
	if main == nil {
		return fmt.Errorf("has no func main")
	}
	r := &reacher{program: p,
		walked: map[ast.Node]bool{}, uncalled: map[string][]signature{}}
	r.stdlibInterfaces()
	if err := r.mark(main); err != nil {
		return err
	}
	for before := -1; before != len(p.live)+len(p.called); {
		before = len(p.live) + len(p.called)
		if err := r.satisfy(); err != nil {
			return err
		}
	}
	return nil
}

type reacher struct {
	*program
	named    []*types.TypeName  // needed types of the module
	ifaces   []*types.Interface // needed interfaces, of the module and of the standard library
	walked   map[ast.Node]bool
	uncalled map[string][]signature // methods of the module's needed interfaces, by name, until they are called
}

// A signature is one method in the source of an interface.
type signature struct {
	pkg   *packages.Package
	field *ast.Field
}

// mark makes obj needed, and everything that its declaration mentions.
func (r *reacher) mark(obj types.Object) error {
	if f, ok := obj.(*types.Func); ok {
		obj = f.Origin()
	}
	d := r.decls[obj]
	if d == nil || r.live[obj] {
		return nil
	}
	r.live[obj] = true
	if d.fn != nil {
		if d.fn.Body == nil {
			return fmt.Errorf("%s: %s has no body in Go: build tags %s must select one",
				r.at(d.node().Pos()), obj.Name(), buildTags)
		}
		return r.walk(d.pkg, d.fn)
	}
	if tn, ok := obj.(*types.TypeName); ok {
		r.named = append(r.named, tn)
		if it, ok := tn.Type().Underlying().(*types.Interface); ok {
			r.ifaces = append(r.ifaces, it)
		}
	}
	if embedsFile(d) {
		return fmt.Errorf("%s: %s is an embedded file, which one source file cannot have", r.at(d.node().Pos()), obj.Name())
	}
	if d.group {
		for _, s := range d.gen.Specs {
			if err := r.walk(d.pkg, s); err != nil {
				return err
			}
		}
		return nil
	}
	for _, o := range d.objs {
		r.live[o] = true
	}
	return r.walk(d.pkg, d.spec)
}

// walk marks everything that node mentions.
func (r *reacher) walk(pkg *packages.Package, node ast.Node) error {
	if r.walked[node] {
		return nil
	}
	r.walked[node] = true
	var err error
	info := pkg.TypesInfo
	ast.Inspect(node, func(n ast.Node) bool {
		if err != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.InterfaceType:
			err = r.walkInterface(pkg, n)
			return false
		case *ast.TypeAssertExpr:
			err = r.callAll(info, n.Type)
		case *ast.CaseClause:
			for _, x := range n.List {
				if tv := info.Types[x]; err == nil && tv.IsType() {
					err = r.callAll(info, x)
				}
			}
		case *ast.Ident:
			err = r.use(info, n)
		}
		return err == nil
	})
	return err
}

// walkInterface marks what an interface embeds. Its own methods are marked when they are called.
func (r *reacher) walkInterface(pkg *packages.Package, n *ast.InterfaceType) error {
	if it, ok := pkg.TypesInfo.TypeOf(n).(*types.Interface); ok {
		r.ifaces = append(r.ifaces, it)
	}
	for _, f := range n.Methods.List {
		if len(f.Names) == 1 && !r.called[f.Names[0].Name] {
			r.uncalled[f.Names[0].Name] = append(r.uncalled[f.Names[0].Name], signature{pkg, f})
		} else if err := r.walk(pkg, f); err != nil {
			return err
		}
	}
	return nil
}

// call makes every method with that name in the module's needed interfaces needed.
func (r *reacher) call(name string) error {
	if r.called[name] {
		return nil
	}
	r.called[name] = true
	for _, s := range r.uncalled[name] {
		if err := r.walk(s.pkg, s.field); err != nil {
			return err
		}
	}
	return nil
}

// callAll is for an interface in a type assertion or a type switch: all its methods decide the outcome.
func (r *reacher) callAll(info *types.Info, x ast.Expr) error {
	if x == nil || info.TypeOf(x) == nil {
		return nil
	}
	it, ok := info.TypeOf(x).Underlying().(*types.Interface)
	for k := 0; ok && k < it.NumMethods(); k++ {
		if err := r.call(it.Method(k).Name()); err != nil {
			return err
		}
	}
	return nil
}

// use marks what an identifier refers to.
func (r *reacher) use(info *types.Info, id *ast.Ident) error {
	obj := info.Uses[id]
	if obj == nil {
		return nil
	}
	if pn, ok := obj.(*types.PkgName); ok {
		return r.useImport(id, pn.Imported())
	}
	if pkg := obj.Pkg(); pkg != nil && r.info[pkg] == nil {
		r.stdlibUses = append(r.stdlibUses, stdlibUse{obj, id.Pos()})
		return nil
	}
	if f, ok := obj.(*types.Func); ok {
		if recv := f.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			return r.call(f.Name())
		}
	}
	return r.mark(obj)
}

func (r *reacher) useImport(id *ast.Ident, pkg *types.Package) error {
	if r.info[pkg] != nil {
		return nil
	}
	if first, _, _ := strings.Cut(pkg.Path(), "/"); strings.Contains(first, ".") {
		return fmt.Errorf("%s: %s is not in the standard library", r.at(id.Pos()), pkg.Path())
	}
	r.imports[pkg.Path()] = pkg.Name()
	return nil
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
func (r *reacher) satisfy() error {
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
					if err := r.mark(sel.Obj()); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
