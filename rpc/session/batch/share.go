package batch

import (
	"errors"
	"os"
	"unsafe"

	"blockyard/env/vec"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/session/memory"
	"blockyard/rpc/wire"
)

// MostSlots is the largest number of slots of a batch.
const MostSlots = 1 << 14

const (
	mostShares = 64 // mappings of a batch
	pageSize   = 4096
	cacheLine  = 64
)

// Shared is memory that a batch shares with its client: slots, or the last observations of ended games.
type Shared struct {
	File    *os.File // for the client to map; whoever gets it calls Close
	Len     int64    // bytes
	First   int      // number of the first slot
	Stride  int      // bytes from one slot to the next
	Actions int      // offset of the actions in a slot
	Layout  *Layout  // of last observations

	memory []byte
	tab    *limits.Tab
}

// Close closes the file. The mapping stays until the batch is closed.
func (s *Shared) Close() error {
	s.tab.Give(limits.Use{Files: 1})
	return s.File.Close()
}

// Share allocates slots for so many games each, at most all. The size is sealed before the client gets the file.
func (b *Batch) Share(slots, games int) (*Shared, error) {
	if len(b.Slots)+slots > MostSlots {
		return nil, wire.Exceeds("slots of a handle", MostSlots, int64(len(b.Slots)+slots), "")
	}
	slab, rows, partial := len(b.Own.Slab), b.Rows, games < b.Config.Envs
	if partial {
		st, err := b.Streamed()
		if err != nil {
			return nil, err
		}
		slab, rows = st.SlabLen(games), games*b.Env.Rows()
	}
	actionsAt := up(slab, cacheLine)
	stride := up(actionsAt+2*rows, pageSize)
	s, err := b.newShared("share", int64(stride)*int64(slots), int64(slots)*slotMemory)
	if err != nil {
		return nil, err
	}
	s.First, s.Stride, s.Actions = len(b.Slots), stride, actionsAt
	for at := 0; at < len(s.memory); at += stride {
		p := &Place{Slab: s.memory[at : at+slab], Games: games}
		if !partial {
			if p, err = b.place(p.Slab); err != nil {
				return nil, errors.Join(err, s.Close())
			}
			p.Actions = s.memory[at+actionsAt : at+actionsAt+2*rows]
		}
		b.Slots = append(b.Slots, p)
	}
	return s, nil
}

func up(n, unit int) int { return (n + unit - 1) / unit * unit }

// newShared allocates memory that a client can map, and accounts for more besides it; method is for errors.
func (b *Batch) newShared(method string, size, more int64) (*Shared, error) {
	if len(b.shared) >= mostShares {
		return nil, wire.Exceeds("shares of a handle", mostShares, mostShares+1, "")
	}
	need := limits.Use{Mappings: 1, Files: 1, Memory: size + more}
	if err := b.tab.Take(need); err != nil {
		return nil, err
	}
	shared, file, err := memory.New(size)
	if err != nil {
		b.tab.Give(need)
		return nil, wire.Errorf(wire.Limit, "%s: allocating %d bytes: %v", method, size, err)
	}
	b.shared = append(b.shared, shared)
	return &Shared{File: file, Len: size, memory: shared, tab: b.tab}, nil
}

// ShareFinal moves the last observations of ended games to memory shared with the client, which then
// need not call final after each step. The server only writes there, and what final reads it only echoes.
func (b *Batch) ShareFinal() (*Shared, error) {
	l, _, err := b.FinalHere()
	if err != nil {
		return nil, err
	}
	if b.Stream != nil {
		return nil, badParams("share_final: games have been sent already: call it before send")
	}
	s, err := b.newShared("share_final", int64(up(l.Len, pageSize)), 0)
	if err != nil {
		return nil, err
	}
	s.Layout = l
	if b.final, err = l.View(s.memory); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	b.Own.setFinal(b.final)
	for _, p := range b.Slots {
		if p.batch != nil {
			p.setFinal(b.final)
		}
	}
	return s, nil
}

// FinalHere returns where in this process the last observations of ended games are, while the batch is open.
func (b *Batch) FinalHere() (*Layout, unsafe.Pointer, error) {
	if b.Config.Autoreset != vec.SameStep {
		return nil, nil, badParams("share_final: the autoreset mode is %v, want SameStep", b.Config.Autoreset)
	}
	l, err := b.Env.Layout(b.finalNames()...)
	return &Layout{Layout: l}, unsafe.Pointer(unsafe.SliceData(b.final.FinalPlanes)), err // the first field
}

// unshare frees the memory of all slots, which must not be used any more.
func (b *Batch) unshare() error {
	var errs []error
	for _, shared := range b.shared {
		errs = append(errs, memory.Free(shared))
	}
	b.shared, b.Slots, b.now = nil, nil, b.Own
	return errors.Join(errs...)
}
