package batch

import (
	"slices"

	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// A Layout says where the fields of a slab are.
type Layout struct {
	vec.Layout           // the fields that package vec writes
	bits       vec.Field // packed boards, after those; without a name if there are none
	length     int       // bytes of the slab
}

// always are the fields that every slab has, whatever the client selects. There is also "illegal" unless
// illegal actions are refused, "opponent" if the server plays a seat, and then "moves" and "result" for a log.
var always = []string{"reward", "terminated", "truncated", "score"}

// layOut places the selected fields, nil for all, in the slab.
func (b *Batch) layOut(fields []string, packed bool) error {
	names := slices.Clone(always)
	if b.Config.Illegal != vec.Refuse {
		names = append(names, "illegal")
	}
	if b.Env.Driven().Len() < b.Config.Seats {
		names = append(names, "opponent")
		if b.Log {
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
	l, err := b.Env.Layout(names...)
	if err != nil {
		return err
	}
	b.Layout = Layout{Layout: l}
	if packed && slices.Contains(fields, "planes") {
		l.Add("bits", "|u1", b.Rows, b.Game.PackedLen())
		b.Layout.bits = l.Fields[len(l.Fields)-1]
	}
	b.Layout.length = l.Len
	if l.Len >= 1<<32-slabStart {
		return wire.Exceeds("slab bytes", 1<<32-slabStart, int64(l.Len), "")
	}
	return nil
}

// All lists the fields under their names on the wire.
func (l *Layout) All() []vec.Field {
	all := slices.Clone(l.Fields)
	if l.bits.Name != "" {
		all = append(all, l.bits)
	}
	for k := range all {
		switch all[k].Name {
		case "legal":
			all[k].Name = "mask"
		case "final_legal":
			all[k].Name = "final_mask"
		}
	}
	return all
}
