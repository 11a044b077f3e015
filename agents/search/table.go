package search

import "blockyard/env"

// A table keeps what a Minimax knows of positions, by hash; a new one replaces one with the same lower bits.
type table struct {
	entries []entry // nil if the game's positions have no hash
	stamp   uint32  // number of the current iteration
}

const (
	tableLen = 1 << 16
	listLen  = 12 // the most actions that an entry lists
)

const TableMemory = tableLen * 48 // how many bytes a table takes

// An entry is what the transposition table knows about a position.
type entry struct {
	key    uint64
	list   [listLen]env.Action // the actions that are best at one ply, in order, without those that end the game
	end    env.Action          // the best of those that end the game, or env.None
	first  env.Action          // the best action found by the last search, or env.None
	value  float32             // what that search returned
	stamp  uint32              // the iteration that it belonged to
	ply    int8                // its distance from the root
	bound  int8                // 0 if value is exact, -1 if the true one is at most value, 1 if it is at least value
	listed int8                // how many actions are in list; 0 if they are not known
}

// key returns the hash of s, or 0 if there is no table.
func (t *table) key(s env.State) uint64 {
	if t.entries == nil {
		return 0
	}
	return s.(env.Hasher).Hash()
}

// at returns the entry of the position with a key, an empty one if nothing is known. Without a table, it is own.
func (t *table) at(key uint64, own *entry) *entry {
	if t.entries == nil {
		return own
	}
	e := &t.entries[key&(tableLen-1)]
	if e.key != key {
		*e = entry{key: key, first: env.None}
	}
	return e
}

// known returns the value of e if this iteration has searched the position, at the same distance from the root, and
// the value is exact or outside of alpha to beta for certain.
func (e *entry) known(stamp uint32, ply int, alpha, beta float32) (v float32, ok bool) {
	if e.stamp != stamp || int(e.ply) != ply {
		return 0, false
	}
	return e.value, e.bound == 0 || e.bound < 0 && e.value <= alpha || e.bound > 0 && e.value >= beta
}

// set notes the result of a search between alpha and beta.
func (e *entry) set(stamp uint32, ply int, v, alpha, beta float32, first env.Action) {
	e.stamp, e.ply, e.value, e.bound = stamp, int8(ply), v, 0
	if first != env.None {
		e.first = first
	}
	if v <= alpha {
		e.bound = -1
	} else if v >= beta {
		e.bound = 1
	}
}

// store notes the actions that n has valued, all of the position's.
func (e *entry) store(n *node, width int) {
	if width > listLen {
		return // the list would not be complete
	}
	e.end, e.listed = n.end, int8(len(n.todo))
	for i, c := range n.todo {
		e.list[i] = c.action
	}
}
