package vec

import (
	"fmt"
	"unsafe"

	"blockyard/env"
)

// A Field is one slab inside a Layout.
type Field struct {
	Name   string // "planes", "final_globals", …: the Batch field in lower case
	DType  string // numpy's name: "|u1", "<f4" or "<i4"
	Shape  []int
	Offset int // bytes from the start, a multiple of 8
	Len    int // bytes
}

// A Layout is the offset of each slab of a Batch in one block of memory, so that a step can be
// written into shared memory or sent with one write.
type Layout struct {
	Fields []Field
	Len    int // bytes of the block, a multiple of 8
}

type slab struct {
	name, dtype string
	final       bool
	shape       func(g *env.Game, envs, rows, seats int) []int
}

// slabs lists the slabs in the order of Batch's fields, which is their order in a block.
var slabs = []slab{
	{"planes", "|u1", false, planesShape},
	{"globals", "<f4", false, globalsShape},
	{"legal", "|u1", false, legalShape},
	{"seat", "|u1", false, rowShape},
	{"reward", "<f4", false, seatShape},
	{"terminated", "|u1", false, envShape},
	{"truncated", "|u1", false, envShape},
	{"score", "<i4", false, seatShape},
	{"final_planes", "|u1", true, planesShape},
	{"final_globals", "<f4", true, globalsShape},
	{"final_legal", "|u1", true, legalShape},
	{"final_seat", "|u1", true, rowShape},
}

func planesShape(g *env.Game, n, r, _ int) []int {
	return []int{n * r, g.Planes.C, g.Planes.H, g.Planes.W}
}
func globalsShape(g *env.Game, n, r, _ int) []int { return []int{n * r, g.Globals()} }
func legalShape(g *env.Game, n, r, _ int) []int   { return []int{n * r, g.MaskLen()} }
func rowShape(_ *env.Game, n, r, _ int) []int     { return []int{n * r} }
func seatShape(_ *env.Game, n, _, s int) []int    { return []int{n, s} }
func envShape(_ *env.Game, n, _, _ int) []int     { return []int{n} }

// Layout places the named slabs one after the other, in the order of Batch's fields. A name is
// the Batch field in lower case: "planes", "final_seat". Without names, Layout places every
// slab that the autoreset mode writes.
func (e *Env) Layout(names ...string) (Layout, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var l Layout
	for _, s := range slabs {
		if s.final && e.c.Autoreset != SameStep || len(names) > 0 && !wanted[s.name] {
			continue
		}
		delete(wanted, s.name)
		f := Field{Name: s.name, DType: s.dtype, Shape: s.shape(e.g, e.c.Envs, e.rows, e.c.Seats), Offset: l.Len}
		f.Len = product(f.Shape) * width(s.dtype)
		l.Len += (f.Len + 7) &^ 7
		l.Fields = append(l.Fields, f)
	}
	for name := range wanted {
		return Layout{}, fmt.Errorf("vec %s: no slab %q under %v", e.g.Name, name, e.c.Autoreset)
	}
	return l, nil
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func width(dtype string) int { return int(dtype[2] - '0') }

// Alloc returns a zeroed block of the layout's length, aligned to 8 bytes.
func (l Layout) Alloc() []byte {
	words := make([]uint64, l.Len/8)
	if len(words) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), l.Len)
}

// View returns the Batch whose slabs are parts of block, without copying. Numbers are in the
// machine's byte order. It returns an error if block is shorter than Len or not aligned to 8
// bytes.
func (l Layout) View(block []byte) (*Batch, error) {
	if len(block) < l.Len {
		return nil, fmt.Errorf("vec layout: block of %d bytes, want %d", len(block), l.Len)
	}
	b := &Batch{}
	if l.Len == 0 {
		return b, nil
	}
	if p := uintptr(unsafe.Pointer(&block[0])); p%8 != 0 {
		return nil, fmt.Errorf("vec layout: block at address %#x is not aligned to 8 bytes", p)
	}
	for _, f := range l.Fields {
		part := block[f.Offset : f.Offset+f.Len : f.Offset+f.Len]
		if err := b.point(f.Name, part); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *Batch) point(name string, part []byte) error {
	switch name {
	case "planes":
		b.Planes = part
	case "globals":
		b.Globals = view[float32](part)
	case "legal":
		b.Legal = part
	case "seat":
		b.Seat = part
	case "reward":
		b.Reward = view[float32](part)
	case "terminated":
		b.Terminated = part
	case "truncated":
		b.Truncated = part
	case "score":
		b.Score = view[int32](part)
	case "final_planes":
		b.FinalPlanes = part
	case "final_globals":
		b.FinalGlobals = view[float32](part)
	case "final_legal":
		b.FinalLegal = part
	case "final_seat":
		b.FinalSeat = part
	default:
		return fmt.Errorf("vec layout: no slab %q", name)
	}
	return nil
}

func view[T float32 | int32](part []byte) []T {
	if len(part) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&part[0])), len(part)/4)
}
