package dropbloxbot

import (
	"sort"

	"blockyard/env/dropblox"
)

// A choice is a line that may be kept: a board, and where to put the next block on it.
type choice struct {
	worth  float32
	from   int32
	action int32
	line   float32
}

// A keeper keeps the best of many choices, each board once, in memory that the next search uses again.
type keeper struct {
	list  []choice
	most  int     // choices kept: more than the width, since some lead to the same board
	floor float32 // choices of this worth or less are out already
	best  float32
	table []uint64 // hashes of boards met; 0 is free
}

func (k *keeper) start(width int) {
	k.list, k.most, k.floor = k.list[:0], width+width/4+4, lowest
	size := 64
	for size < 4*k.most {
		size *= 2
	}
	if len(k.table) != size {
		k.table = make([]uint64, size)
		return
	}
	for i := range k.table {
		k.table[i] = 0
	}
}

// add takes a choice; when there are far too many, the worse are dropped.
func (k *keeper) add(worth float32, from, action int32, line float32) {
	k.list = append(k.list, choice{worth, from, action, line})
	if len(k.list) >= 3*k.most+64 {
		k.cut()
	}
}

// cut keeps the best and raises the floor to the worst of them.
func (k *keeper) cut() {
	if len(k.list) <= k.most {
		return
	}
	part(k.list, k.most)
	k.list = k.list[:k.most]
	k.floor = k.list[0].worth
	for i := range k.list {
		if k.list[i].worth < k.floor {
			k.floor = k.list[i].worth
		}
	}
}

// before is the order of choices: by worth, and of equals the one met first.
func (c *choice) before(d *choice) bool {
	if c.worth != d.worth {
		return c.worth > d.worth
	}
	if c.from != d.from {
		return c.from < d.from
	}
	return c.action < d.action
}

// part brings the n best to the front, in no order (quickselect).
func part(list []choice, n int) {
	lo, hi := 0, len(list)-1
	for lo < hi {
		mid := list[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for list[i].before(&mid) {
				i++
			}
			for mid.before(&list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		if n <= j+1 {
			hi = j
		} else if n > i {
			lo = i
		} else {
			return
		}
	}
}

// order returns the choices kept, the best first.
func (k *keeper) order() []choice {
	k.cut()
	sort.Sort(k)
	return k.list
}

// Len, Less and Swap implement sort.Interface: sort.Slice would allocate.
func (k *keeper) Len() int           { return len(k.list) }
func (k *keeper) Less(i, j int) bool { return k.list[i].before(&k.list[j]) }
func (k *keeper) Swap(i, j int)      { k.list[i], k.list[j] = k.list[j], k.list[i] }

// known reports whether the board has been met since start, and notes it.
func (k *keeper) known(f *Field) bool {
	h := uint64(0x9E3779B97F4A7C15)
	for _, c := range f[:dropblox.Cols] {
		h = (h ^ c) * 0xD6E8FEB86659FD93
		h ^= h >> 32
	}
	h |= 1
	mask := uint64(len(k.table) - 1)
	for at := h >> 20 & mask; ; at = (at + 1) & mask {
		switch k.table[at] {
		case 0:
			k.table[at] = h
			return false
		case h:
			return true
		}
	}
}
