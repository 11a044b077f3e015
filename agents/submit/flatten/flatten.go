// Package flatten turns a program of this module, together with every package of the module that it imports, into one
// Go source file. The file imports the standard library only, contains no unused declarations, and uses no language
// newer than Lang. Programming contests take a bot in this form.
//
// Source works in these steps:
//
//   - flatten.go reads and type-checks the packages; language.go checks them again as Lang, and refuses language and
//     library functions that are newer.
//   - fold.go removes the branches of if statements that are never taken, because their conditions are constants.
//   - reach.go finds the declarations that func main needs, and the fields of structs that these mention; all others
//     are dropped.
//   - print.go gives every package-level declaration a unique name and prints it without comments, as gofmt would.
//
// Assembly, embedded files, packages of other modules and init functions, which one package would run at another time
// than several packages do, are refused too. Every refusal names the place.
package flatten

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Lang is the newest language version that a flattened program uses.
const Lang = "go1.17"

// Options say which program to flatten, and what to put into it.
type Options struct {
	// Package is the import path of the program, such as "blockyard/agents/submit/programs/blockbattle".
	Package string
	Dir     string // a folder inside the module; empty means the current one
	// Replace gives source files other content, with the same imports. A key is a file's path below the module's
	// root, with slashes.
	Replace map[string][]byte
	Header  []string // the opening comment, one element per line, without slashes
}

// Source returns the flattened, gofmt-clean program. It does not compile it.
func Source(o Options) (src []byte, err error) {
	defer func() {
		if err != nil {
			src, err = nil, fmt.Errorf("flatten %s: %w", o.Package, err)
		}
	}()
	p, err := load(o)
	if err != nil {
		return nil, err
	}
	p.findNewerLanguage()
	for _, pkg := range p.pkgs {
		for _, f := range pkg.Syntax {
			foldFile(pkg.TypesInfo, f)
			p.foldTypes(pkg.TypesInfo, f)
		}
	}
	for _, step := range []func(){p.collect, p.reach, p.checkLanguage} {
		if step(); p.err != nil {
			return nil, p.err
		}
	}
	p.name()
	return p.print(o.Header)
}

// Sizes describes how many bytes of a flattened program come from each package, for an error about its length.
func Sizes(src []byte) string {
	var parts []string
	for i, section := range strings.Split(string(src), sectionMark) {
		if i > 0 {
			name, _, _ := strings.Cut(section, "\n")
			parts = append(parts, fmt.Sprintf("%s %d", name, len(section)))
		}
	}
	return strings.Join(parts, ", ")
}

// buildTags select, among files with build constraints, those in plain Go and without code that only serves speed.
const buildTags = "noasm,purego,compact"

// A program is one main package and every package of its module that it imports.
type program struct {
	fset *token.FileSet
	pkgs []*packages.Package // dependencies first, the program itself last
	info map[*types.Package]*types.Info

	decls map[types.Object]*decl // every package-level object and method of pkgs
	order []*decl                // in source order, dependencies first

	live      map[types.Object]bool // objects that main needs
	mentioned map[any]bool          // keys of parts: fields, and names of methods that are called through interfaces
	waiting   map[any][]part        // parts of needed types, until they are mentioned
	walked    map[ast.Node]bool
	named     []*types.TypeName  // needed types of the module
	ifaces    []*types.Interface // needed interfaces, of the module and of the standard library
	reflects  bool               // a needed declaration uses a package that finds fields by reflection

	names   map[types.Object]string // package-level objects: the name in the flattened program
	imports map[string]string       // standard packages in use: import path → name in the flattened program
	newer   []types.Error           // where Lang's compiler refuses a source file
	defined map[token.Pos]string    // of these places, names of functions that the program defines itself

	definitions map[string]string // those functions, by name

	err error // the first refusal
}

// refuse notes why the program cannot be flattened, and where.
func (p *program) refuse(pos token.Pos, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s: "+format, append([]any{p.at(pos)}, args...)...)
	}
}

// A decl is one declaration: a function, a method, or one spec of a group.
type decl struct {
	pkg   *packages.Package
	node  ast.Node     // an *ast.FuncDecl or an ast.Spec
	gen   *ast.GenDecl // the group of a spec; nil for a function
	objs  []types.Object
	group bool // a constant whose value depends on its place in its group (iota, repeated values)
	embed bool // a variable that may be an embedded file
}

func load(o Options) (*program, error) {
	survey := &packages.Config{
		Dir: o.Dir, Env: append(os.Environ(), "CGO_ENABLED=0"), BuildFlags: []string{"-tags=" + buildTags},
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}
	roots, err := packages.Load(survey, o.Package)
	if err != nil {
		return nil, err
	}
	if len(roots) != 1 || len(roots[0].GoFiles) == 0 || roots[0].Module == nil {
		return nil, fmt.Errorf("no such program: %w", firstError(roots))
	}
	if roots[0].Name != "main" {
		return nil, fmt.Errorf("is package %s, not a program", roots[0].Name)
	}
	module := roots[0].Module
	var paths []string // of the module, dependencies first
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.Module != nil && p.Module.Path == module.Path {
			paths = append(paths, p.PkgPath)
		}
	})

	cfg := *survey
	cfg.Fset = token.NewFileSet()
	cfg.Mode = packages.LoadSyntax | packages.NeedModule
	replaced := map[string][]byte{}
	for name, content := range o.Replace {
		path := filepath.Join(module.Dir, filepath.FromSlash(name))
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("nothing to replace: %w", err)
		}
		replaced[path] = content
	}
	// An overlay would do the same, but it makes packages.Load read the standard library from source.
	cfg.ParseFile = func(fset *token.FileSet, path string, text []byte) (*ast.File, error) {
		if content, ok := replaced[path]; ok {
			text = content
		}
		return parser.ParseFile(fset, path, text, parser.AllErrors) // without comments
	}
	loaded, err := packages.Load(&cfg, paths...)
	if err = cmp.Or(err, firstError(loaded)); err != nil {
		return nil, err
	}
	p := &program{
		fset: cfg.Fset, info: map[*types.Package]*types.Info{}, decls: map[types.Object]*decl{},
		live: map[types.Object]bool{}, mentioned: map[any]bool{}, waiting: map[any][]part{}, walked: map[ast.Node]bool{},
		names: map[types.Object]string{}, imports: map[string]string{}, defined: map[token.Pos]string{},
		definitions: map[string]string{},
	}
	for _, path := range paths {
		pkg := loaded[slices.IndexFunc(loaded, func(l *packages.Package) bool { return l.PkgPath == path })]
		p.pkgs = append(p.pkgs, pkg)
		p.info[pkg.Types] = pkg.TypesInfo
	}
	return p, nil
}

func firstError(pkgs []*packages.Package) (err error) {
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			err = cmp.Or(err, error(e))
		}
	})
	return err
}

// at is a place in the sources, for an error: folder/file.go:line.
func (p *program) at(pos token.Pos) string {
	where := p.fset.Position(pos)
	folder, file := filepath.Split(where.Filename)
	return fmt.Sprintf("%s:%d", filepath.Join(filepath.Base(folder), file), where.Line)
}

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
					p.add(&decl{pkg: pkg, node: d}, d.Name)
				case *ast.GenDecl:
					group := d.Tok == token.CONST && inSequence(d)
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							p.add(&decl{pkg: pkg, gen: d, node: s}, s.Name)
						case *ast.ValueSpec:
							embed := embeds && d.Tok == token.VAR && len(s.Values) == 0
							p.add(&decl{pkg: pkg, gen: d, node: s, group: group, embed: embed}, s.Names...)
						}
					}
				}
			}
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
