package bundle

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// reach finds what main needs. A method counts as needed when it is called, or when its
// type is needed and satisfies a needed interface through which it is called. Methods of
// our interfaces that nobody calls are left out of the interfaces too.
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
	r := &reacher{program: p, walked: map[ast.Node]bool{}, asked: map[string][]signature{}}
	r.libraryInterfaces()
	for _, d := range p.inits {
		if err := r.mark(d.objs[0]); err != nil {
			return err
		}
	}
	if err := r.mark(main); err != nil {
		return err
	}
	for before := -1; before != len(p.live)+len(p.called); {
		before = len(p.live) + len(p.called)
		if err := r.satisfy(); err != nil {
			return err
		}
	}
	return p.checkInits()
}

// collect lists the declarations of one package.
func (p *program) collect(pkg *packages.Package) error {
	for _, f := range pkg.Syntax {
		for _, im := range f.Imports {
			if im.Name != nil && im.Name.Name == "." {
				return fmt.Errorf("%s: dot import", p.at(im.Pos()))
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				one := &decl{pkg: pkg, fn: d}
				p.add(one, d.Name)
				if d.Recv == nil && d.Name.Name == "init" {
					p.inits = append(p.inits, one)
				}
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

// inSequence reports whether the constants of a group mean something by their place.
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

type reacher struct {
	*program
	named  []*types.TypeName  // needed types of ours
	ifaces []*types.Interface // needed interfaces, ours and the library's
	walked map[ast.Node]bool
	asked  map[string][]signature // methods of our needed interfaces, by name
}

// A signature is a method in the source of an interface.
type signature struct {
	pkg   *packages.Package
	field *ast.Field
}

// mark makes obj needed, and all that its declaration mentions.
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
			return fmt.Errorf("%s: %s has no body in Go", r.at(d.pos()), obj.Name())
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
		return fmt.Errorf("%s: %s is an embedded file", r.at(d.pos()), obj.Name())
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
			err = r.told(info, n.Type)
		case *ast.CaseClause:
			for _, x := range n.List {
				if tv := info.Types[x]; err == nil && tv.IsType() {
					err = r.told(info, x)
				}
			}
		case *ast.FuncType:
			if n.TypeParams != nil {
				err = fmt.Errorf("%s: type parameters", r.at(n.Pos()))
			}
		case *ast.TypeSpec:
			if n.TypeParams != nil {
				err = fmt.Errorf("%s: type parameters", r.at(n.Pos()))
			}
		case *ast.Ident:
			err = r.use(info, n)
		}
		return err == nil
	})
	return err
}

// walkInterface marks what an interface is made of; its own methods wait to be called.
func (r *reacher) walkInterface(pkg *packages.Package, n *ast.InterfaceType) error {
	if it, ok := pkg.TypesInfo.TypeOf(n).(*types.Interface); ok {
		r.ifaces = append(r.ifaces, it)
	}
	for _, f := range n.Methods.List {
		if len(f.Names) == 1 && !r.called[f.Names[0].Name] {
			r.asked[f.Names[0].Name] = append(r.asked[f.Names[0].Name], signature{pkg, f})
		} else if err := r.walk(pkg, f); err != nil {
			return err
		}
	}
	return nil
}

// call makes every method of that name in our needed interfaces needed.
func (r *reacher) call(name string) error {
	if r.called[name] {
		return nil
	}
	r.called[name] = true
	for _, s := range r.asked[name] {
		if err := r.walk(s.pkg, s.field); err != nil {
			return err
		}
	}
	return nil
}

// told is for an interface that values are told apart by: all its methods count.
func (r *reacher) told(info *types.Info, x ast.Expr) error {
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

func (r *reacher) use(info *types.Info, id *ast.Ident) error {
	obj := info.Uses[id]
	if obj == nil {
		return nil
	}
	if _, ok := info.Instances[id]; ok {
		return fmt.Errorf("%s: %s has type parameters", r.at(id.Pos()), id.Name)
	}
	if pn, ok := obj.(*types.PkgName); ok {
		return r.useImport(id, pn.Imported())
	}
	if pkg := obj.Pkg(); pkg != nil && r.info[pkg] == nil {
		r.uses = append(r.uses, libraryUse{obj, id.Pos()})
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

// libraryInterfaces notes every interface that library code could ask our types for.
func (r *reacher) libraryInterfaces() {
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

// satisfy marks the methods by which needed types satisfy needed interfaces.
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
