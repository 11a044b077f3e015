package blocking

import (
	"errors"
	"hash/fnv"
	"sync/atomic"
)

// tables holds the shape tables in use, by State.TableID.
//
// A State must be flat: it is copied by assignment, compared with == and encoded field by
// field. It therefore holds no pointer to its table but the table's id, a number that CopyFrom,
// Hide, Encode and Decode treat like any other field. The id is derived from the definitions,
// so that two processes that use the same table agree on it. Readers load an entry without a
// lock, and an entry never changes once it is set, so Use may run beside games in progress.
var tables = func() (out [256]atomic.Value) {
	out[0].Store(DefaultTable)
	return out
}()

// Table returns the shapes that the game is played with, or nil if TableID names none.
func (s *State) Table() *Table {
	t, _ := tables[s.TableID].Load().(*Table)
	return t
}

// Use makes a shape table available to States and returns its State.TableID. The id is 0 for
// the default table and otherwise a hash of the definitions, or the next free number if another
// table has that hash. Use returns an error if all 256 numbers are taken.
func Use(t *Table) (id uint8, err error) {
	if DefaultTable.same(t) {
		return 0, nil
	}
	h := fnv.New32a()
	for l := range t.Shapes {
		h.Write([]byte{byte(t.Shapes[l].Cols), byte(t.Shapes[l].Rows)})
		h.Write([]byte(t.Shapes[l].Text))
	}
	for n := uint32(0); n < 255; n++ {
		id = uint8(1 + (h.Sum32()+n)%255)
		if tables[id].CompareAndSwap(nil, t) || tables[id].Load().(*Table).same(t) {
			return id, nil
		}
	}
	return 0, errors.New("blocking: 256 shape tables are in use, want fewer")
}
