package server

import (
	"slices"

	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// A layout says where the fields of a slab are.
type layout struct {
	vec.Layout           // the fields that package vec writes
	bits       vec.Field // packed boards, after those; without a name if there are none
	length     int       // bytes of the slab
}

// always are the fields that every slab has, whatever the client selects. There is also "illegal" unless
// illegal actions are refused, "opponent" if the server plays a seat, and then "moves" and "result" for a log.
var always = []string{"reward", "terminated", "truncated", "score"}

// layOut places the selected fields, nil for all, in the slab.
func (h *handle) layOut(fields []string, packed bool) error {
	names := slices.Clone(always)
	if h.c.Illegal != vec.Refuse {
		names = append(names, "illegal")
	}
	if h.env.Driven().Len() < h.c.Seats {
		names = append(names, "opponent")
		if h.logs {
			names = append(names, "moves", "result")
		}
	}
	if fields == nil {
		fields = []string{"planes", "globals", "mask", "seat"}
	}
	for _, name := range fields {
		switch {
		case name == "globals" || name == "seat" || name == "planes" && !packed:
			names = append(names, name)
		case name == "mask":
			names = append(names, "legal")
		case name != "planes" && !slices.Contains(always, name):
			return wire.Errorf(wire.BadParams, "open: fields names %.32q: want planes, globals, mask or seat", name)
		}
	}
	l, err := h.env.Layout(names...)
	if err != nil {
		return err
	}
	h.layout = layout{Layout: l}
	if packed && slices.Contains(fields, "planes") {
		l.Add("bits", "|u1", h.rows, h.game.PackedLen())
		h.layout.bits = l.Fields[len(l.Fields)-1]
	}
	h.layout.length = l.Len
	if l.Len >= 1<<32-slabStart {
		return wire.Exceeds("slab bytes", 1<<32-slabStart, int64(l.Len), "")
	}
	return nil
}

// announce is the layout in the result of open.
func (l *layout) announce() (out []map[string]any) {
	fields := l.Fields
	if l.bits.Name != "" {
		fields = append(slices.Clone(fields), l.bits)
	}
	for _, f := range fields {
		switch f.Name { // names on the wire
		case "legal":
			f.Name = "mask"
		case "final_legal":
			f.Name = "final_mask"
		}
		out = append(out, map[string]any{
			"name": f.Name, "dtype": f.DType, "shape": f.Shape, "off": f.Offset, "len": f.Len,
		})
	}
	return out
}
