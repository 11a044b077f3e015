package vec

import "fmt"

// NoSeat in Batch.Seat marks a row without a seat.
const NoSeat = 0xFF

// A Batch is what one step writes: flat slabs, row-major, of exactly the lengths given
// here, N being Envs, R Rows, S Seats. A nil slab is not wanted and costs nothing.
type Batch struct {
	Planes     []uint8   // [N*R, C, H, W]
	Globals    []float32 // [N*R, Game.Globals()]
	Legal      []uint8   // [N*R, Game.MaskLen()]: bit a&7 of byte a>>3 is action a
	Seat       []uint8   // [N*R]: whose view the row is, NoSeat if nobody's
	Reward     []float32 // [N, S]: every seat's, see Config.Reward
	Terminated []uint8   // [N]: 1 where the game is over
	Truncated  []uint8   // [N]: 1 where the step limit cut it off; never with Terminated
	Score      []int32   // [N, S]: points at the end of the step; of the episode it ended, if it ended one

	// Under SameStep, the last view of an episode that this step ended; rows of the other
	// environments keep the bytes they had.
	FinalPlanes  []uint8   // [N*R, C, H, W]
	FinalGlobals []float32 // [N*R, Game.Globals()]
	FinalLegal   []uint8   // [N*R, Game.MaskLen()]: empty masks if the game was over, not if it was cut off
	FinalSeat    []uint8   // [N*R]
}

// NewBatch allocates the slabs named, as Layout does, in one piece of memory.
func (e *Env) NewBatch(names ...string) (*Batch, error) {
	l, err := e.Layout(names...)
	if err != nil {
		return nil, err
	}
	return l.View(l.Alloc())
}

// checkBatch refuses slabs of a wrong length, naming the first.
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
