package vec

import "fmt"

// NoSeat in Batch.Seat marks a row without a seat.
const NoSeat = 0xFF

// A Batch is where a step writes its results: flat, row-major slabs that the caller owns. In
// the shapes below N is Envs, R is Rows and S is Seats; a slab has exactly that many elements.
// A nil slab is not written and costs nothing.
type Batch struct {
	Planes     []uint8   // [N*R, C, H, W]
	Globals    []float32 // [N*R, Game.Globals()]
	Legal      []uint8   // [N*R, Game.MaskLen()]: bit a&7 of byte a>>3 is action a
	Seat       []uint8   // [N*R]: the seat that the row belongs to, or NoSeat
	Reward     []float32 // [N, S]: reward of every seat, see Config.Reward
	Terminated []uint8   // [N]: 1 where the game is over
	Truncated  []uint8   // [N]: 1 where the step limit ended the episode; never together with Terminated
	Score      []int32   // [N, S]: points at the end of the step, before an autoreset

	// Under SameStep, the last observation of each episode that this step ended. Rows of other
	// environments keep their bytes.
	FinalPlanes  []uint8   // [N*R, C, H, W]
	FinalGlobals []float32 // [N*R, Game.Globals()]
	FinalLegal   []uint8   // [N*R, Game.MaskLen()]: empty if terminated, not if truncated
	FinalSeat    []uint8   // [N*R]
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
		len(b.Truncated), len(b.Score), len(b.FinalPlanes), len(b.FinalGlobals), len(b.FinalLegal), len(b.FinalSeat)}
	for k, n := range have {
		if n != 0 && n != e.sizes[k] {
			return fmt.Errorf("vec %s: slab %s has %d elements, want %d", e.g.Name, slabs[k].name, n, e.sizes[k])
		}
	}
	return nil
}
