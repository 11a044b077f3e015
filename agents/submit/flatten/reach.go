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
//
// Fields of named structs that no needed declaration mentions are dropped, with the types that only they need: their
// value would always be zero. Kept are embedded fields, fields with a tag, all fields of a struct that is written
// without their names, and every field as soon as the program uses a package that finds fields by reflection.
func (p *program) reach() {
	p.stdlibInterfaces()
	p.mark(p.pkgs[len(p.pkgs)-1].Types.Scope().Lookup("main"))
	for before := -1; before != len(p.live)+len(p.mentioned); {
		before = len(p.live) + len(p.mentioned)
		p.satisfy()
	}
}

// reflects lists those packages. Package fmt is not among them: it shows a struct without the zeros of such fields.
var reflects = map[string]bool{"encoding/gob": true, "encoding/json": true, "encoding/xml": true, "reflect": true,
	"encoding/binary": true, "unsafe": true}

// A part is one method in the source of an interface, or one field in that of a struct. It waits for its key to be
// mentioned: the name of the method, a string, or the object of the field.
type part struct {
	pkg   *packages.Package
	field *ast.Field
}

// mention makes the parts with a key needed.
func (p *program) mention(key any) {
	if !p.mentioned[key] {
		p.mentioned[key] = true
		for _, w := range p.waiting[key] {
			p.walk(w.pkg, w.field)
		}
	}
}

// mark makes obj needed, and everything that its declaration mentions.
func (p *program) mark(obj types.Object) {
	if f, ok := obj.(*types.Func); ok {
		obj = f.Origin()
	}
	d := p.decls[obj]
	if d == nil || p.live[obj] {
		return
	}
	p.live[obj] = true
	switch fn, ok := d.node.(*ast.FuncDecl); {
	case ok && fn.Body == nil:
		p.refuse(fn.Pos(), "%s has no body in Go: build tags %s must select one", obj.Name(), buildTags)
	case d.embed:
		p.refuse(d.node.Pos(), "%s may be an embedded file, which one source file cannot have", obj.Name())
	case d.group: // it is printed whole
		for _, s := range d.gen.Specs {
			p.walk(d.pkg, s)
		}
		return
	}
	if tn, ok := obj.(*types.TypeName); ok {
		p.named = append(p.named, tn)
		if it, ok := tn.Type().Underlying().(*types.Interface); ok {
			p.ifaces = append(p.ifaces, it)
		}
	}
	for _, o := range d.objs {
		p.live[o] = true
	}
	p.walk(d.pkg, d.node)
}

// walk marks everything that node mentions.
func (p *program) walk(pkg *packages.Package, node ast.Node) {
	if p.walked[node] {
		return
	}
	p.walked[node] = true
	info := pkg.TypesInfo
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.InterfaceType:
			if it, ok := info.TypeOf(n).(*types.Interface); ok {
				p.ifaces = append(p.ifaces, it)
			}
			p.walkParts(pkg, n.Methods, p.keepsMethod, func(id *ast.Ident) any { return id.Name })
			return false
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				keeps := func(f *ast.Field) bool { return p.keepsField(info, f) }
				p.walkParts(pkg, s.Fields, keeps, func(id *ast.Ident) any { return info.Defs[id] })
				return false
			}
		case *ast.CompositeLit:
			if len(n.Elts) > 0 {
				if _, named := n.Elts[0].(*ast.KeyValueExpr); !named {
					p.mentionAll(info.TypeOf(n))
				}
			}
		case *ast.TypeAssertExpr:
			p.callAll(info.TypeOf(n.Type))
		case *ast.CaseClause:
			for _, x := range n.List {
				if tv := info.Types[x]; tv.IsType() {
					p.callAll(tv.Type)
				}
			}
		case *ast.Ident:
			p.use(info, n)
		}
		return true
	})
}

// walkParts marks what the parts of a type mention that are kept in any case. The others wait.
func (p *program) walkParts(pkg *packages.Package, parts *ast.FieldList, keeps func(*ast.Field) bool,
	key func(*ast.Ident) any) {
	for _, f := range parts.List {
		if keeps(f) {
			p.walk(pkg, f)
			continue
		}
		for _, id := range f.Names {
			p.waiting[key(id)] = append(p.waiting[key(id)], part{pkg, f})
		}
	}
}

// keepsMethod reports whether an interface needs its method, or what it embeds.
func (p *program) keepsMethod(f *ast.Field) bool {
	return len(f.Names) != 1 || p.mentioned[f.Names[0].Name]
}

// keepsField reports whether the struct with field f needs it. A field of several names is needed if one of them is.
func (p *program) keepsField(info *types.Info, f *ast.Field) bool {
	keep := p.reflects || len(f.Names) == 0 || f.Tag != nil
	for _, id := range f.Names {
		keep = keep || p.mentioned[info.Defs[id]]
	}
	return keep
}

// mentionAll keeps all fields of t if t is a struct, or a pointer to one.
func (p *program) mentionAll(t types.Type) {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			p.mention(f.Origin())
		}
	}
}

// callAll is for the type of an assertion or of a case: if it is an interface, all its methods decide the outcome.
func (p *program) callAll(t types.Type) {
	if t == nil { // x.(type)
		return
	}
	if it, ok := t.Underlying().(*types.Interface); ok {
		for m := range it.Methods() {
			p.mention(m.Name())
		}
	}
}

// use marks what an identifier refers to.
func (p *program) use(info *types.Info, id *ast.Ident) {
	obj := info.Uses[id]
	if obj == nil {
		return
	}
	if named, ok := obj.(*types.PkgName); ok {
		if pkg := named.Imported(); p.info[pkg] == nil {
			if first, _, _ := strings.Cut(pkg.Path(), "/"); strings.Contains(first, ".") {
				p.refuse(id.Pos(), "%s is not in the standard library", pkg.Path())
			}
			p.imports[pkg.Path()] = pkg.Name()
		}
		return
	}
	v, _ := obj.(*types.Var)
	f, _ := obj.(*types.Func)
	switch pkg := obj.Pkg(); {
	case pkg != nil && p.info[pkg] == nil:
		p.checkLibrary(obj, id.Pos())
		if reflects[pkg.Path()] && !p.reflects {
			p.reflects = true
			for key, parts := range p.waiting {
				if _, method := key.(string); !method {
					p.walk(parts[0].pkg, parts[0].field)
				}
			}
		}
	case v != nil && v.IsField():
		p.mention(v.Origin())
	case f != nil && f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()):
		p.mention(f.Name())
	default:
		p.mark(obj)
	}
}

// stdlibInterfaces collects every interface through which the standard library could call the module's types.
func (p *program) stdlibInterfaces() {
	p.ifaces = append(p.ifaces, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
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
		if p.info[pkg] != nil {
			return
		}
		for _, name := range pkg.Scope().Names() {
			if tn, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && tn.Exported() {
				if it, ok := tn.Type().Underlying().(*types.Interface); ok {
					p.ifaces = append(p.ifaces, it)
				}
			}
		}
	}
	for _, pkg := range p.pkgs {
		visit(pkg.Types)
	}
}

// satisfy marks the methods with which needed types implement needed interfaces.
func (p *program) satisfy() {
	for i := 0; i < len(p.named); i++ { // more types and interfaces come up meanwhile
		t := p.named[i].Type()
		if types.IsInterface(t) {
			continue
		}
		ptr := types.NewPointer(t)
		set := types.NewMethodSet(ptr)
		for j := 0; j < len(p.ifaces); j++ {
			it := p.ifaces[j]
			if it.NumMethods() == 0 || !it.IsMethodSet() || !types.Implements(ptr, it) {
				continue
			}
			for m := range it.Methods() {
				sel := set.Lookup(m.Pkg(), m.Name())
				if sel != nil && (p.info[m.Pkg()] == nil || p.mentioned[m.Name()]) {
					p.mark(sel.Obj())
				}
			}
		}
	}
}
