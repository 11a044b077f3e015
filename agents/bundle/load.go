package bundle

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// buildTags choose, among files with build constraints, the ones in plain Go.
const buildTags = "noasm,purego"

// A program is one main package with every package of its module below it.
type program struct {
	fset *token.FileSet
	pkgs []*packages.Package // dependencies first, the program itself last
	info map[*types.Package]*types.Info

	decls map[types.Object]*decl // every package-level object and method of pkgs
	order []*decl                // as they stand in the sources, dependencies first
	live  map[types.Object]bool  // reached from main

	inits []*decl // functions called init, in the order they run

	called map[string]bool // methods called through our interfaces, by name

	names    map[types.Object]string // package-level objects: their name in the bundle
	captives map[types.Object]bool   // see captured
	imports  map[string]string       // library packages in use: path → name in the bundle
	extra    map[string]string       // functions that stand for newer language: name → source
	uses     []libraryUse
	nextName int // numbers variables that lowering makes up
}

// A decl is one declaration: a function, a method, or one spec of a group.
type decl struct {
	pkg   *packages.Package
	fn    *ast.FuncDecl // or
	gen   *ast.GenDecl
	spec  ast.Spec
	objs  []types.Object
	group bool // a spec that must keep its place in its group (iota, repeated values)
}

func (d *decl) pos() token.Pos {
	if d.fn != nil {
		return d.fn.Pos()
	}
	return d.spec.Pos()
}

func load(o Options) (*program, error) {
	env := append(os.Environ(), "CGO_ENABLED=0")
	survey := &packages.Config{Dir: o.Dir, Env: env, BuildFlags: []string{"-tags=" + buildTags},
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule}
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
	module, dir := roots[0].Module.Path, filepath.Dir(roots[0].GoFiles[0])
	var paths []string
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.Module != nil && p.Module.Path == module {
			paths = append(paths, p.PkgPath)
		}
	})

	cfg := *survey
	cfg.Fset = token.NewFileSet()
	cfg.Mode = packages.LoadSyntax | packages.NeedModule
	cfg.Overlay = map[string][]byte{}
	for name, content := range o.Replace {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("nothing to replace: %w", err)
		}
		cfg.Overlay[path] = content
	}
	loaded, err := packages.Load(&cfg, paths...)
	if err != nil {
		return nil, err
	}
	if err := firstError(loaded); err != nil {
		return nil, err
	}
	return newProgram(cfg.Fset, paths, loaded), nil
}

func newProgram(fset *token.FileSet, paths []string, loaded []*packages.Package) *program {
	p := &program{fset: fset, info: map[*types.Package]*types.Info{}, decls: map[types.Object]*decl{},
		live: map[types.Object]bool{}, names: map[types.Object]string{}, imports: map[string]string{},
		extra: map[string]string{}, called: map[string]bool{}}
	byPath := map[string]*packages.Package{}
	for _, pkg := range loaded {
		byPath[pkg.PkgPath] = pkg
		p.info[pkg.Types] = pkg.TypesInfo
	}
	for _, path := range paths {
		p.pkgs = append(p.pkgs, byPath[path])
	}
	return p
}

func firstError(pkgs []*packages.Package) error {
	var err error
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			if err == nil {
				err = errors.New(e.Error())
			}
		}
	})
	return err
}

// at names a place in the sources for an error.
func (p *program) at(pos token.Pos) string {
	where := p.fset.Position(pos)
	return fmt.Sprintf("%s:%d", filepath.Join(filepath.Base(filepath.Dir(where.Filename)), filepath.Base(where.Filename)), where.Line)
}
