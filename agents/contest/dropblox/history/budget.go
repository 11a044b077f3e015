package history

import (
	"errors"
	"sync/atomic"
)

// ErrFull says that the space for histories is used up.
var ErrFull = errors.New("the space for histories is used up")

// A file takes whole blocks of the disk, and a folder one for itself and one for meta.
const (
	blockSize  = 4096
	folderSize = 2 // blocks
)

// A Budget is the space on disk for one or more histories. A nil Budget has no limit. It is safe for
// concurrent use.
type Budget struct{ blocks atomic.Int64 }

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget {
	b := new(Budget)
	b.blocks.Store(bytes / blockSize)
	return b
}

// take takes the space of a file of so many bytes, or of least blocks if these are more. It takes
// nothing if there is too little.
func (b *Budget) take(bytes, least int) error {
	if b == nil {
		return nil
	}
	blocks := int64(max((bytes+blockSize-1)/blockSize, least))
	for {
		left := b.blocks.Load()
		if left < blocks {
			return ErrFull
		}
		if b.blocks.CompareAndSwap(left, left-blocks) {
			return nil
		}
	}
}
