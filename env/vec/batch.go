package vec

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"blockyard/env"
)

// A Field is one slab inside a Layout.
type Field struct {
	Name   string // "planes", "final_globals", …: the Batch field in lower case
	DType  string // numpy's name: "|u1", "<u2", "<f4" or "<i4"
	Shape  []int
	Offset int // bytes from the start, a multiple of 64
	Len    int // bytes
}

// A Layout says where each slab of a Batch is in one block of memory, so that it can be shared or sent at once.
type Layout struct {
	Fields []Field
	Len    int // bytes of the block, a multiple of 8
}

// A slab is one field of a Batch.
type slab struct {
	name, dtype string
	shape       func(g *env.Game, envs, rows, seats int) []int
	of          func(b *Batch) any // the address of the field
}

// slabs lists the slabs in the order of Batch's fields, which is their order in a block.
var slabs = []slab{
	{"planes", "|u1", planesShape, func(b *Batch) any { return &b.Planes }},
	{"globals", "<f4", globalsShape, func(b *Batch) any { return &b.Globals }},
	{"legal", "|u1", legalShape, func(b *Batch) any { return &b.Legal }},
	{"seat", "|u1", rowShape, func(b *Batch) any { return &b.Seat }},
	{"reward", "<f4", seatShape, func(b *Batch) any { return &b.Reward }},
	{"terminated", "|u1", envShape, func(b *Batch) any { return &b.Terminated }},
	{"truncated", "|u1", envShape, func(b *Batch) any { return &b.Truncated }},
	{"score", "<i4", seatShape, func(b *Batch) any { return &b.Score }},
	{"illegal", "|u1", rowShape, func(b *Batch) any { return &b.Illegal }},
	{"opponent", "<u2", seatShape, func(b *Batch) any { return &b.Opponent }},
	{"moves", "<u2", movesShape, func(b *Batch) any { return &b.Moves }},
	{"final_planes", "|u1", planesShape, func(b *Batch) any { return &b.FinalPlanes }},
	{"final_globals", "<f4", globalsShape, func(b *Batch) any { return &b.FinalGlobals }},
	{"final_legal", "|u1", legalShape, func(b *Batch) any { return &b.FinalLegal }},
	{"final_seat", "|u1", rowShape, func(b *Batch) any { return &b.FinalSeat }},
	{"final_opponent", "<u2", seatShape, func(b *Batch) any { return &b.FinalOpponent }},
}

func planesShape(g *env.Game, n, r, _ int) []int {
	return []int{n * r, g.Planes.C, g.Planes.H, g.Planes.W}
}
func globalsShape(g *env.Game, n, r, _ int) []int { return []int{n * r, g.Globals()} }
func legalShape(g *env.Game, n, r, _ int) []int   { return []int{n * r, g.MaskLen()} }
func rowShape(_ *env.Game, n, r, _ int) []int     { return []int{n * r} }
func seatShape(_ *env.Game, n, _, s int) []int    { return []int{n, s} }
func envShape(_ *env.Game, n, _, _ int) []int     { return []int{n} }
func movesShape(_ *env.Game, n, _, _ int) []int   { return []int{n, MovesLen} }

// Layout places the named slabs one after the other, in the order of Batch's fields. A name is
// the Batch field in lower case: "planes", "final_seat". Without names, Layout places every
// slab that the Config lets a step write, except that for a Log: "moves".
func (e *Env) Layout(names ...string) (Layout, error) {
	var l Layout
	var written []string
	for _, s := range slabs {
		if strings.HasPrefix(s.name, "final_") && e.c.Autoreset != SameStep ||
			s.name == "illegal" && e.c.Illegal == Refuse ||
			(strings.HasSuffix(s.name, "opponent") || s.name == "moves") && e.others() == 0 {
			continue
		}
		written = append(written, s.name)
		if len(names) == 0 && s.name != "moves" || slices.Contains(names, s.name) {
			l.Add(s.name, s.dtype, s.shape(e.g, e.c.Envs, e.rows, e.c.Seats)...)
		}
	}
	for _, name := range names {
		if !slices.Contains(written, name) {
			return Layout{}, fmt.Errorf("vec %s: no slab %q under %v: want some of %q", e.g.Name, name, e.c.Autoreset, written)
		}
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

// align rounds n up to a multiple of to, a power of two.
func align(n, to int) int { return (n + to - 1) &^ (to - 1) }

// Add places one more field on a cache line of its own. View refuses fields that Batch does not have.
func (l *Layout) Add(name, dtype string, shape ...int) {
	const cacheLine = 64
	width := int(dtype[len(dtype)-1] - '0')
	f := Field{Name: name, DType: dtype, Shape: shape, Offset: align(l.Len, cacheLine), Len: product(shape) * width}
	l.Fields = append(l.Fields, f)
	l.Len = f.Offset + align(f.Len, 8)
}

// Alloc returns a zeroed block of the layout's length, aligned to 8 bytes.
func (l Layout) Alloc() []byte {
	words := make([]uint64, l.Len/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), l.Len)
}

// View returns the Batch whose slabs are parts of block, without copying. Numbers are in the machine's
// byte order. It returns an error if block is shorter than Len or not aligned to 8 bytes.
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
		k := slices.IndexFunc(slabs, func(s slab) bool { return s.name == f.Name })
		if k < 0 {
			return nil, fmt.Errorf("vec layout: no slab %q", f.Name)
		}
		part := block[f.Offset : f.Offset+f.Len : f.Offset+f.Len]
		switch field := slabs[k].of(b).(type) {
		case *[]uint8:
			*field = part
		case *[]float32:
			*field = view[float32](part)
		case *[]int32:
			*field = view[int32](part)
		case *[]uint16:
			*field = view[uint16](part)
		}
	}
	return b, nil
}

func view[T float32 | int32 | uint16](part []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(part))), len(part)/int(unsafe.Sizeof(*new(T))))
}

// NoSeat in Batch.Seat marks a row that need not act.
const NoSeat = 0xFF

// A Batch is where a step writes its results: flat, row-major slabs that the caller owns. In the shapes below N is
// Envs, R is Rows and S is Seats; a slab has exactly that many elements. A nil slab is not written and costs nothing.
type Batch struct {
	Planes     []uint8   // [N*R, C, H, W]
	Globals    []float32 // [N*R, Game.Globals()]
	Legal      []uint8   // [N*R, Game.MaskLen()]: bit a&7 of byte a>>3 is action a
	Seat       []uint8   // [N*R]: the row's seat, or NoSeat if the row need not act
	Reward     []float32 // [N, S]: reward of every seat, see Config.Reward
	Terminated []uint8   // [N]: 1 where the game is over
	Truncated  []uint8   // [N]: 1 where the step limit ended the episode; never together with Terminated
	Score      []int32   // [N, S]: points at the end of the step, before an autoreset
	Illegal    []uint8   // [N*R]: 1 where the row's action was illegal and was replaced; not under Refuse
	Opponent   []uint16  // [N, S]: Choice.ID of the opponent in every seat, or NoOpponent
	Moves      []uint16  // [N, MovesLen]: how many moves opponents made, then the first of them, see Log

	// Under SameStep, the last observation of each episode that this step ended. Rows of other
	// environments keep their bytes.
	FinalPlanes   []uint8   // [N*R, C, H, W]
	FinalGlobals  []float32 // [N*R, Game.Globals()]
	FinalLegal    []uint8   // [N*R, Game.MaskLen()]: empty if terminated, not if truncated
	FinalSeat     []uint8   // [N*R]
	FinalOpponent []uint16  // [N, S]
}

// NewBatch allocates the named slabs in one block of memory. See Layout for the names.
func (e *Env) NewBatch(names ...string) (*Batch, error) {
	l, err := e.Layout(names...)
	if err != nil {
		return nil, err
	}
	return l.View(l.Alloc())
}

// checkBatch returns an error that names the first slab of a wrong length.
func (e *Env) checkBatch(b *Batch) error {
	if b == nil {
		return fmt.Errorf("vec %s: no batch to write to", e.g.Name)
	}
	have := [...]int{len(b.Planes), len(b.Globals), len(b.Legal), len(b.Seat), len(b.Reward), len(b.Terminated),
		len(b.Truncated), len(b.Score), len(b.Illegal), len(b.Opponent), len(b.Moves),
		len(b.FinalPlanes), len(b.FinalGlobals), len(b.FinalLegal), len(b.FinalSeat), len(b.FinalOpponent)}
	for k, n := range have {
		if n != 0 && n != e.sizes[k] {
			return fmt.Errorf("vec %s: slab %s has %d elements, want %d", e.g.Name, slabs[k].name, n, e.sizes[k])
		}
	}
	return nil
}
