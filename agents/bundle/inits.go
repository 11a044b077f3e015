package bundle

import (
	"fmt"
	"go/ast"
	"go/types"
)

// checkInits refuses what one package cannot do as many did. Apart, a package's variables
// and its func init are complete before anything of a package that imports it is made; in
// a bundle all variables come first and all func init after. That is the same unless a
// variable is made from one that a func init elsewhere touches.
func (p *program) checkInits() error {
	sets := map[types.Object]*decl{} // variable → the func init that touches it
	for _, d := range p.inits {
		for obj := range p.touches(d) {
			sets[obj] = d
		}
	}
	for _, d := range p.order {
		if len(sets) == 0 || d.fn != nil || !p.kept(d) {
			continue
		}
		if _, isVar := d.objs[0].(*types.Var); !isVar {
			continue
		}
		for obj := range p.touches(d) {
			if by := sets[obj]; by != nil && by.pkg != d.pkg {
				return fmt.Errorf("%s: %s is made from %s, which func init of %s sets",
					p.at(d.pos()), d.objs[0].Name(), obj.Name(), by.pkg.PkgPath)
			}
		}
	}
	return nil
}

// touches lists the package-level variables that running d's code can reach.
func (p *program) touches(d *decl) map[types.Object]bool {
	vars, seen := map[types.Object]bool{}, map[*decl]bool{}
	var walk func(d *decl)
	walk = func(d *decl) {
		if seen[d] {
			return
		}
		seen[d] = true
		var node ast.Node = d.fn
		if d.fn == nil {
			node = d.spec
		}
		ast.Inspect(node, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			obj := d.pkg.TypesInfo.Uses[id]
			next := p.decls[obj]
			if next == nil {
				return true
			}
			switch obj.(type) {
			case *types.Var:
				vars[obj] = true
				walk(next)
			case *types.Func:
				walk(next)
			}
			return true
		})
	}
	walk(d)
	return vars
}
