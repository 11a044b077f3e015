package server

import (
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// A layout says where the fields of a slab are.
type layout struct {
	vec.Layout
	bits *vec.Field // packed boards; package vec does not know this field
}

// view returns slices of slab for the fields that package vec writes.
func (l *layout) view(slab []byte) (*vec.Batch, error) { return l.Layout.View(slab) }

// fieldAlign divides the offset of every field.
const fieldAlign = 64

// layOut places the selected fields, nil for all, in the slab.
func (h *handle) layOut(fields []string, packed bool) error {
	names := append([]string{}, always...)
	if fields == nil {
		fields = []string{"planes", "globals", "mask", "seat"}
	}
	planes := false
	for _, name := range fields {
		switch name {
		case "planes":
			planes = true
		case "globals", "seat":
			names = append(names, name)
		case "mask":
			names = append(names, "legal")
		case "reward", "terminated", "truncated", "score":
		default:
			return wire.Errorf(wire.BadParams, "open: fields names %.32q: want planes, globals, mask or seat", name)
		}
	}
	if planes && !packed {
		names = append(names, "planes")
	}
	l, err := h.env.Layout(names...)
	if err != nil {
		return badOpen(err)
	}
	h.layout = layout{Layout: l}
	if planes && packed {
		h.layout.bits = &vec.Field{Name: "bits", DType: "|u1", Shape: []int{h.rows, h.game.PackedLen()}, Len: h.rows * h.game.PackedLen()}
		h.layout.Fields = append(h.layout.Fields, *h.layout.bits)
	}
	h.layout.Len = 0
	for i := range h.layout.Fields {
		f := &h.layout.Fields[i]
		f.Offset = (h.layout.Len + fieldAlign - 1) &^ (fieldAlign - 1)
		h.layout.Len = f.Offset + (f.Len+7)&^7
	}
	if h.layout.bits != nil {
		last := len(h.layout.Fields) - 1
		*h.layout.bits = h.layout.Fields[last]
		h.layout.Fields = h.layout.Fields[:last] // vec does not know it
	}
	if h.layout.Len >= 1<<32-slabStart {
		return wire.Exceeds("slab bytes", 1<<32-slabStart, int64(h.layout.Len), "")
	}
	return nil
}

// announce is the layout in the result of open.
func (l *layout) announce() []map[string]any {
	out := []map[string]any{}
	add := func(f *vec.Field) {
		name := f.Name
		if other, ok := wireNames[name]; ok {
			name = other
		}
		out = append(out, map[string]any{"name": name, "dtype": f.DType, "shape": f.Shape, "off": f.Offset, "len": f.Len})
	}
	for i := range l.Fields {
		add(&l.Fields[i])
	}
	if l.bits != nil {
		add(l.bits)
	}
	return out
}
