package flatten

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

// sectionMark opens the part of a flattened program that comes from one package.
const sectionMark = "\n// From "

// print renames and prints the needed declarations, package by package.
func (p *program) print(header []string) ([]byte, error) {
	var out bytes.Buffer
	for _, line := range header {
		out.WriteString(strings.TrimRight("// "+line, " ") + "\n")
	}
	if len(header) > 0 {
		out.WriteString("\n")
	}
	out.WriteString("package main\n")
	var imports []string
	for path, name := range p.imports {
		line := strconv.Quote(path)
		if base := path[strings.LastIndex(path, "/")+1:]; base != name {
			line = name + " " + line
		}
		imports = append(imports, line)
	}
	if slices.Sort(imports); len(imports) > 0 {
		out.WriteString("\nimport (\n" + strings.Join(imports, "\n") + "\n)\n")
	}
	for _, name := range slices.Sorted(maps.Keys(p.definitions)) {
		out.WriteString(p.definitions[name])
	}
	if err := p.printDecls(&out); err != nil {
		return nil, err
	}
	src, err := format.Source(out.Bytes())
	if err == nil {
		src, err = format.Source(emptyLine.ReplaceAll(src, []byte("\n$1")))
	}
	if err != nil {
		return nil, fmt.Errorf("the result is not valid Go: %w", err)
	}
	return src, nil
}

// emptyLine matches empty lines inside a declaration. They are removed; those in front of declarations stay.
var emptyLine = regexp.MustCompile(`\n\n+([\t)}])`)

// printDecls prints the needed declarations, which are in the order of their packages.
func (p *program) printDecls(out *bytes.Buffer) error {
	var of *packages.Package
	done := map[*ast.GenDecl]bool{}
	for _, d := range p.order {
		if !p.kept(d) || d.gen != nil && done[d.gen] {
			continue
		}
		if of != d.pkg {
			of = d.pkg
			out.WriteString(sectionMark + strings.TrimPrefix(of.PkgPath, of.Module.Path+"/") + "\n")
		}
		node := d.node
		if d.gen != nil {
			done[d.gen] = true
			node = p.prune(d.gen)
		}
		p.rename(d.pkg.TypesInfo, node)
		out.WriteString("\n")
		if err := format.Node(out, p.fset, node); err != nil {
			return fmt.Errorf("%s: %w", p.at(d.node.Pos()), err)
		}
		out.WriteString("\n")
	}
	return nil
}

// prune returns a copy of a group with the needed specs only, and blanks where a place must be kept.
func (p *program) prune(g *ast.GenDecl) *ast.GenDecl {
	out := &ast.GenDecl{TokPos: g.TokPos, Tok: g.Tok, Lparen: g.Lparen, Rparen: g.Rparen}
	last := 0
	for _, d := range p.order {
		if d.gen != g {
			continue
		}
		if p.kept(d) {
			last = len(out.Specs) + 1
		} else if !d.group {
			continue
		}
		if v, ok := d.node.(*ast.ValueSpec); ok {
			for i, id := range v.Names {
				if !p.live[d.pkg.TypesInfo.Defs[id]] {
					v.Names[i] = ast.NewIdent("_")
				}
			}
		}
		out.Specs = append(out.Specs, d.node.(ast.Spec))
	}
	out.Specs = out.Specs[:last]
	if len(out.Specs) == 1 {
		out.Lparen, out.Rparen = token.NoPos, token.NoPos
	}
	return out
}

// rename gives every identifier its new name. It writes raw strings of several lines as interpreted ones, so that an
// empty line is never part of a string.
func (p *program) rename(info *types.Info, node ast.Node) {
	astutil.Apply(node, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			if pn, ok := info.Uses[x].(*types.PkgName); ok {
				if name, ours := p.names[info.Uses[n.Sel]]; ours {
					c.Replace(&ast.Ident{NamePos: n.Pos(), Name: name})
				} else {
					n.X = &ast.Ident{NamePos: x.NamePos, Name: p.imports[pn.Imported().Path()]}
				}
				return false
			}
		case *ast.Ident:
			n.Name = p.renamed(info, n)
		case *ast.BasicLit:
			if n.Kind == token.STRING && strings.Contains(n.Value, "\n") {
				text, _ := strconv.Unquote(n.Value) // it was parsed, so it is valid
				n.Value = strconv.Quote(text)
			}
		case *ast.StructType:
			if _, named := c.Parent().(*ast.TypeSpec); named {
				n.Fields = filter(n.Fields, func(f *ast.Field) bool { return p.keepsField(info, f) })
			}
		case *ast.InterfaceType:
			n.Methods = filter(n.Methods, p.keepsMethod)
		}
		return true
	}, nil)
}

// filter returns the fields of a struct, or the methods of an interface, that are kept.
func filter(fields *ast.FieldList, keep func(*ast.Field) bool) *ast.FieldList {
	out := &ast.FieldList{Opening: fields.Opening, Closing: fields.Closing, List: slices.Clone(fields.List)}
	out.List = slices.DeleteFunc(out.List, func(f *ast.Field) bool { return !keep(f) })
	return out
}

func (p *program) renamed(info *types.Info, id *ast.Ident) string {
	obj := info.Uses[id]
	if obj == nil {
		obj = info.Defs[id]
	}
	// An embedded field has the name of its type.
	if v, ok := obj.(*types.Var); ok && v.Embedded() {
		t := types.Unalias(v.Type())
		if ptr, ok := t.(*types.Pointer); ok {
			t = types.Unalias(ptr.Elem())
		}
		if named, ok := t.(*types.Named); ok {
			obj = named.Obj()
		}
	}
	return cmp.Or(p.defined[id.Pos()], p.names[obj], id.Name)
}

// name gives every needed package-level object a unique name in the flattened program. Of several objects with one
// name, the most used one keeps it; the others get their package's name in front. Exported names stay exported.
func (p *program) name() {
	taken := map[string]bool{"_": true}
	for _, n := range types.Universe.Names() {
		taken[n] = true
	}
	for name := range p.definitions {
		taken[name] = true
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

// byUse lists the needed package-level objects: main, then those that a prefix would make longest in all.
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

// findNames adds to local the names that are declared inside d: no package-level object may be renamed to one of them.
// It adds to ambiguous the objects of other packages whose bare names mean something else where d mentions them.
func (p *program) findNames(d *decl, local map[string]bool, ambiguous map[types.Object]bool) {
	info, own := d.pkg.TypesInfo, d.pkg.Types.Scope()
	ast.Inspect(d.node, func(n ast.Node) bool {
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

func (p *program) kept(d *decl) bool {
	return slices.ContainsFunc(d.objs, func(o types.Object) bool { return p.live[o] })
}
