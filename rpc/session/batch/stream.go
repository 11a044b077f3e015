package batch

import (
	"slices"
	"sort"
	"time"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/session/memory"
)

// A Stream steps games in the background, each into its rows of the own slab; Gather collects those that are done.
type Stream struct {
	*vec.Stream
	Envs    []uint32     // games to send, or that were received
	Actions []env.Action // of the games to send
	Fits    int          // games whose rows fit into one response
	Timer   *time.Timer  // for those who wait

	b      *Batch
	fields []streamField
}

// A streamField is a field of the slab.
type streamField struct {
	from []byte // where the games write it; nil for bits, which Gather packs
	game int    // bytes per game
}

// Streamed returns the stream, which it starts at the first call.
func (b *Batch) Streamed() (*Stream, error) {
	if b.Stream != nil {
		return b.Stream, nil
	}
	if b.candidates != nil {
		return nil, badParams("send: handle %d has candidates, which only steps of all games show: call step", b.ID)
	}
	if err := b.Awake("send"); err != nil {
		return nil, err
	}
	n := b.Config.Envs
	st := &Stream{b: b, Envs: make([]uint32, 0, n), Actions: make([]env.Action, b.Rows), Timer: time.NewTimer(0)}
	for _, f := range b.Layout.Fields {
		from := b.Own.Slab[f.Offset : f.Offset+f.Len]
		switch f.Name {
		case "terminated":
			from = b.private.terminated
		case "truncated":
			from = b.private.truncated
		}
		st.fields = append(st.fields, streamField{from, f.Len / n})
	}
	if f := b.Layout.bits; f.Name != "" {
		st.fields = append(st.fields, streamField{nil, f.Len / n})
	}
	room := b.tab.Room()
	st.Fits = sort.Search(n, func(k int) bool { return st.SlabLen(k+1)+4*(k+1) > room })
	if st.Fits == 0 {
		return nil, b.tab.Fits(st.SlabLen(1) + 4)
	}
	need := limits.Use{Goroutines: min(b.Config.Workers, n), Timers: 1,
		Memory: int64(st.SlabLen(st.Fits) + limits.ReplyRoom + n*(4+4+4+4+1) + 2*2*b.Rows)}
	if err := b.tab.Take(need); err != nil {
		return nil, err
	}
	var err error
	if st.Stream, err = b.Env.Stream(b.Own.batch); err != nil {
		b.tab.Give(need)
		return nil, err
	}
	b.Stream = st
	return st, nil
}

// SlabLen is the length of the slab of k games: what Layout would be for them.
func (st *Stream) SlabLen(k int) (n int) {
	for _, f := range st.fields {
		n = (n+cacheLine-1)&^(cacheLine-1) + (k*f.game+7)&^7
	}
	return n
}

// Begin starts a step of the games Envs with the first of Actions.
func (st *Stream) Begin() error {
	b := st.b
	if err := st.Send(st.Envs, st.Actions[:len(st.Envs)*b.Env.Rows()]); err != nil {
		return err
	}
	// Their last observations may be overwritten from now on.
	b.Ended = slices.DeleteFunc(b.Ended, func(i int) bool { return !st.Idle(i) })
	b.now = b.Own
	return nil
}

// Receive makes Envs those of the games that are done, at most so many.
func (st *Stream) Receive(most int) (err error) {
	b := st.b
	if st.Envs, err = st.Recv(st.Envs[:0], most); err != nil {
		return err
	}
	b.Ended = b.Ended[:0]
	for _, i := range st.Envs {
		if b.over(int(i)) {
			b.Ended = append(b.Ended, int(i))
		}
	}
	sort.Ints(b.Ended)
	b.Recorder.Settle()
	return nil
}

// Gather writes the slab of the received games to dst. Rows of one game are next to each other in every field.
func (st *Stream) Gather(dst []byte) {
	b, at := st.b, 0
	for _, f := range st.fields {
		gap := at
		at = (at + cacheLine - 1) &^ (cacheLine - 1)
		clear(dst[gap:at])
		for k, i := range st.Envs {
			to := dst[at+k*f.game : at+(k+1)*f.game]
			if f.from != nil {
				copy(to, f.from[int(i)*f.game:])
				continue
			}
			width, each := b.Game.Planes.Len(), b.Game.PackedLen()
			for r := range b.Env.Rows() {
				row := int(i)*b.Env.Rows() + r
				memory.Pack(to[r*each:(r+1)*each], b.private.planes[row*width:(row+1)*width], b.Game.CellBits())
			}
		}
		gap = at + len(st.Envs)*f.game
		at += (len(st.Envs)*f.game + 7) &^ 7
		clear(dst[gap:at])
	}
}
