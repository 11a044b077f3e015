package batch

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"blockyard/env/vec"
	"blockyard/rpc/session/memory"
	"blockyard/rpc/wire"
)

// A Place is the memory to which a step of a batch is written: the batch's own slab, which is sent over the
// connection, or a slot in memory shared with the client.
type Place struct {
	Slab    []byte
	Games   int    // of the slab
	Actions []byte // of a slot: one little-endian uint16 per row

	batch *vec.Batch // nil if these are not all games: such a place is for recv
	after Outcomes   // of candidates

	// The server reads these arrays again after a step, when a client could already have changed
	// them. It therefore writes them to private memory, and finish copies them here.
	bits, terminated, truncated []byte
}

// private is memory that is never shared with a client.
type private struct {
	planes                []uint8 // if the boards are packed: before packing
	terminated, truncated []uint8
}

// place returns the place with the given slab, which must be aligned to 8 bytes.
func (b *Batch) place(slab []byte) (*Place, error) {
	batch, err := b.Layout.View(slab)
	if err != nil {
		return nil, err
	}
	p := &Place{Slab: slab, Games: b.Config.Envs, batch: batch, terminated: batch.Terminated, truncated: batch.Truncated}
	batch.Terminated, batch.Truncated = b.private.terminated, b.private.truncated
	if f := b.Layout.bits; f.Name != "" {
		p.bits, batch.Planes = slab[f.Offset:f.Offset+f.Len], b.private.planes
	}
	if b.candidates != nil {
		p.after = b.candidates.view(slab)
	}
	p.setFinal(b.final)
	return p, nil
}

// setFinal lets a step write the last observations of ended games to the slabs of final.
func (p *Place) setFinal(final *vec.Batch) {
	b := p.batch
	b.FinalPlanes, b.FinalGlobals, b.FinalSeat = final.FinalPlanes, final.FinalGlobals, final.FinalSeat
	b.FinalLegal, b.FinalOpponent = final.FinalLegal, final.FinalOpponent
}

// finish completes p after the games were written to it, and makes it the current place.
func (b *Batch) finish(p *Place) error {
	copy(p.terminated, b.private.terminated)
	copy(p.truncated, b.private.truncated)
	b.now = p
	if p.bits != nil {
		if err := b.pack(p.bits, b.private.planes); err != nil {
			return err
		}
	}
	if b.candidates == nil {
		return nil
	}
	b.candidates.to = &p.after
	return b.Env.Each(b.candidates.game)
}

// pack writes planes with as few bits per cell as hold it, the lowest bits of a byte first, on all cores.
func (b *Batch) pack(dst, planes []byte) error {
	if b.packRow == nil {
		width, each, per, bits := b.Game.Planes.Len(), b.Game.PackedLen(), b.Env.Rows(), b.Game.CellBits()
		b.packRow = func(_, i int) {
			for row := i * per; row < (i+1)*per; row++ {
				memory.Pack(b.packTo[row*each:(row+1)*each], b.packFrom[row*width:(row+1)*width], bits)
			}
		}
	}
	b.packTo, b.packFrom = dst, planes
	return b.Env.Each(b.packRow)
}

// To returns the place that the option slot selects: the batch's own slab without it.
func (b *Batch) To(method string, slot *int64) (*Place, error) {
	if slot == nil {
		return b.Own, nil
	}
	if *slot < 0 || *slot >= int64(len(b.Slots)) {
		return nil, badParams("%s: slot %d, but the handle has %d: call share first", method, *slot, len(b.Slots))
	}
	return b.Slots[*slot], b.Slots[*slot].Whole(method)
}

// Lend returns the slot in memory of this process at an address, whatever was there before.
func (b *Batch) Lend(slab unsafe.Pointer) (slot uint32, err error) {
	if slot, ok := b.lent[slab]; ok {
		return slot, nil
	}
	if slab == nil || uintptr(slab)%8 != 0 {
		return 0, badParams("the slab is at %p: want memory aligned to 8 bytes", slab)
	}
	p, err := b.place(unsafe.Slice((*byte)(slab), len(b.Own.Slab)))
	if err != nil {
		return 0, err
	}
	if len(b.Slots) == MostSlots || b.lent == nil {
		b.lent, b.Slots = map[unsafe.Pointer]uint32{}, nil
	}
	b.lent[slab] = uint32(len(b.Slots))
	b.Slots = append(b.Slots, p)
	return b.lent[slab], nil
}

// Whole returns an error if p is not a place for all games.
func (p *Place) Whole(method string) error {
	if p.batch != nil {
		return nil
	}
	return badParams("%s: the slot holds %d games, want one for all of them: share without games", method, p.Games)
}

// A Layout says where the fields of a slab are.
type Layout struct {
	vec.Layout             // the fields that package vec writes
	bits       vec.Field   // packed boards, after those; without a name if there are none
	after      []vec.Field // candidates and their afterstates; none if there are none
	length     int         // bytes of the slab
}

// always are the fields that every slab has, whatever the client selects. There is also "illegal" unless
// illegal actions are refused, "opponent" if the server plays a seat, and then "moves" for a log.
var always = []string{"reward", "terminated", "truncated", "score"}

// layOut places the selected fields, nil for all, in the slab.
func (b *Batch) layOut(fields []string, packed bool, candidates *Candidates) error {
	names := slices.Clone(always)
	if b.Config.Illegal != vec.Refuse {
		names = append(names, "illegal")
	}
	if b.Env.Driven().Len() < b.Config.Seats {
		names = append(names, "opponent")
		if b.Log {
			names = append(names, "moves")
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
			return badParams("open: fields names %.32q: want planes, globals, mask or seat", name)
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
	if candidates != nil {
		b.choose(candidates, &l)
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
	all = append(all, l.after...)
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

// Last are slabs with the last observations of games that ended in the last step; nil for fields not selected.
type Last struct {
	b                         *Batch
	planes, legal, seat       []byte
	globals, score, opponents []byte
}

// Last returns them. They are valid until the next step.
func (b *Batch) Last() *Last {
	v := b.now.batch
	l := &Last{b: b, planes: v.Planes, globals: memory.Bytes(v.Globals), legal: v.Legal, seat: v.Seat,
		opponents: memory.Bytes(v.Opponent), score: memory.Bytes(v.Score)}
	if b.Config.Autoreset == vec.SameStep {
		l.planes, l.globals, l.seat = v.FinalPlanes, memory.Bytes(v.FinalGlobals), v.FinalSeat
		l.opponents = memory.Bytes(v.FinalOpponent)
		if v.Legal != nil { // masks are wanted
			l.legal = v.FinalLegal
		}
	}
	return l
}

// Size is how many bytes Of writes per game.
func (l *Last) Size() int {
	all := len(l.planes) + len(l.globals) + len(l.legal) + len(l.seat) + len(l.score) + len(l.opponents)
	return all/l.b.Config.Envs + 4 + 4
}

// Of returns those of some games, one after the other in each field, in buf, which has Size bytes for each.
func (l *Last) Of(list []int, buf []byte) wire.Fields {
	buf = buf[:0]
	from := func(at int) []byte { return buf[at:len(buf):len(buf)] }
	for _, i := range list {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(i))
	}
	envs, at := from(0), len(buf)
	for _, i := range list {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(l.b.Env.LastLength(i)))
	}
	lengths := from(at)
	of := func(slab []byte) []byte {
		width, at := len(slab)/l.b.Config.Envs, len(buf)
		for _, i := range list {
			buf = append(buf, slab[i*width:(i+1)*width]...)
		}
		return from(at)
	}
	return wire.Fields{"envs", envs, "planes", of(l.planes), "globals", of(l.globals), "mask", of(l.legal),
		"seat", of(l.seat), "scores", of(l.score), "lengths", lengths, "opponents", of(l.opponents),
		"ended", len(l.b.Ended)}
}
