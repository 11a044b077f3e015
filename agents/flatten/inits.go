package flatten

import (
	"fmt"
	"go/ast"
	"go/types"
)

// checkInits refuses a program whose initialization would change in one package. In several packages, the
// variables and init functions of a package are complete before a package that imports it is initialized.
// In one package, all variables come first and all init functions after them. Both orders give the same
// result unless a variable is initialized from one that an init function of another package touches.
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
				return fmt.Errorf("%s: %s is initialized from %s, which func init of %s sets: "+
					"in one package that would run too late", p.at(d.node().Pos()), d.objs[0].Name(), obj.Name(), by.pkg.PkgPath)
			}
		}
	}
	return nil
}

// touches returns the package-level variables that d's code can read or write.
func (p *program) touches(d *decl) map[types.Object]bool {
	vars, seen := map[types.Object]bool{}, map[*decl]bool{}
	var walk func(d *decl)
	walk = func(d *decl) {
		if seen[d] {
			return
		}
		seen[d] = true
		ast.Inspect(d.node(), func(n ast.Node) bool {
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
