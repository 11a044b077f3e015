package flatten

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// Fields of named structs that no needed declaration mentions are dropped, with the types that only they need: their
// value would always be zero. Kept are embedded fields, fields with a tag, all fields of a struct that is written
// without their names, and every field as soon as the program uses a package that finds fields by reflection.

// reflects lists those packages. Package fmt is not among them: it shows a struct without the zeros of such fields.
var reflects = map[string]bool{"encoding/gob": true, "encoding/json": true, "encoding/xml": true, "reflect": true,
	"encoding/binary": true, "unsafe": true}

// walkStruct marks the types of the fields that are kept in any case. Those of other fields are marked when the
// fields are mentioned.
func (r *reacher) walkStruct(pkg *packages.Package, s *ast.StructType) {
	for _, f := range s.Fields.List {
		if r.keepsField(pkg.TypesInfo, f) {
			r.walk(pkg, f)
			continue
		}
		for _, id := range f.Names {
			r.unmentioned[pkg.TypesInfo.Defs[id]] = part{pkg, f}
		}
	}
}

// mention keeps a field of a struct.
func (r *reacher) mention(field *types.Var) {
	field = field.Origin()
	if !r.live[field] {
		r.live[field] = true
		if p, ok := r.unmentioned[field]; ok {
			r.walk(p.pkg, p.field)
		}
	}
}

// mentionAll keeps all fields of t if t is a struct, or a pointer to one.
func (r *reacher) mentionAll(t types.Type) {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			r.mention(f)
		}
	}
}

// keepsField reports whether the struct with field f needs it. A field of several names is needed if one of them is.
func (p *program) keepsField(info *types.Info, f *ast.Field) bool {
	keep := p.reflects || len(f.Names) == 0 || f.Tag != nil
	for _, id := range f.Names {
		keep = keep || p.live[info.Defs[id]]
	}
	return keep
}
