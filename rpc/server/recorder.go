package server

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"sync"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A recorder writes down episodes of a handle and keeps the finished ones as lines of JSON until the
// client fetches them. Its memory is bounded: if there is no room, the oldest finished records are
// dropped; if that is not enough, the episode in progress is.
type recorder struct {
	h       *handle
	every   uint64
	chosen  []bool   // by game; nil for all
	names   []string // of the client's players, by seat
	memory  int64    // bound on used
	largest int64    // bytes of one record
	stopped bool
	drafts  []*draft // by game; nil if its episode is not recorded. Only the worker of a game uses its draft

	mu    sync.Mutex // games may be stepped while records are fetched
	fresh []finished // of the step in progress, in no order
	queue []finished // oldest first
	used  int64      // bytes of drafts, fresh and queue

	finished, dropped, interrupted uint64 // episodes
}

// A draft is the record of an episode in progress.
type draft struct {
	rec     record.Record
	episode uint64
	size    int64 // counted in used
	lost    bool  // there was no room for its choices
}

// A finished record is lines of JSON: one, or several if the game is long.
type finished struct {
	game  int
	lines []byte
}

// size is the bytes that the record counts for.
func (f *finished) size() int64 { return int64(len(f.lines)) + finishedSize }

const (
	draftSize    = 512 // bytes of a draft without its choices
	finishedSize = 64  // bytes of a finished record without its lines
	firstChoices = 64  // choices that a draft has room for at first
)

// size is the memory that the recording counts for.
func (r *recorder) size() int64 { return r.memory + 9*int64(len(r.drafts)) }

// Begin chooses every r.every-th episode, counted over the games and each game's episodes, so that at any
// time about one in r.every games is recorded.
func (r *recorder) Begin(i int, episode, seed uint64) bool {
	if r.chosen != nil && !r.chosen[i] || (r.h.first+uint64(i)+episode)%r.every != 0 {
		return false
	}
	d := &draft{episode: episode, size: draftSize + 2*firstChoices}
	if !r.hold(d.size) {
		r.drop(1)
		return false
	}
	d.rec = *record.New(r.h.game, seed, r.h.players(i, r.names))
	d.rec.Choices = make([]env.Action, 0, firstChoices)
	r.drafts[i] = d
	return true
}

// Move implements vec.Tracer.
func (r *recorder) Move(i int, acting env.Seats, moves env.Moves) {
	d := r.drafts[i]
	if len(d.rec.Choices)+env.MaxSeats > cap(d.rec.Choices) && !d.lost {
		more := int64(2 * cap(d.rec.Choices))
		if d.size+more > r.largest || !r.hold(more) {
			d.lost = true
			d.rec.Choices = nil
			r.free(d.size - draftSize)
			d.size = draftSize
		} else {
			d.rec.Choices = slices.Grow(d.rec.Choices, cap(d.rec.Choices))
			d.size += more
		}
	}
	if !d.lost {
		d.rec.Add(acting, moves)
	}
}

// End implements vec.Tracer.
func (r *recorder) End(i int, last env.State) {
	d := r.drafts[i]
	r.drafts[i] = nil
	r.free(d.size)
	if d.lost {
		r.drop(1)
		return
	}
	d.rec.End(last)
	d.rec.Meta = map[string]string{
		"env":     strconv.FormatUint(r.h.first+uint64(i), 10),
		"episode": strconv.FormatUint(d.episode, 10),
	}
	text := texts.Get().(*bytes.Buffer)
	defer texts.Put(text)
	text.Reset()
	w := record.NewWriter(text)
	err := w.Write(&d.rec)
	if err == nil {
		err = w.Close()
	}
	one := finished{i, bytes.Clone(text.Bytes())}
	if err != nil || one.size() > r.largest || !r.hold(one.size()) {
		r.drop(1)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh = append(r.fresh, one)
}

// texts are buffers to write records to.
var texts = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// Drop implements vec.Tracer.
func (r *recorder) Drop(i int) {
	r.free(r.drafts[i].size)
	r.drafts[i] = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.interrupted++
}

// hold counts n more bytes, after dropping finished records if necessary. It returns false if there is no
// room all the same.
func (r *recorder) hold(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.used+n > r.memory && len(r.queue) > 0 {
		r.forget()
		r.dropped++
	}
	if r.used+n > r.memory {
		return false
	}
	r.used += n
	return true
}

func (r *recorder) free(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
}

func (r *recorder) drop(episodes uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped += episodes
}

// settle queues the records of the last step in the order of the games, whichever worker finished first.
func (r *recorder) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.fresh) == 0 {
		return
	}
	slices.SortStableFunc(r.fresh, func(a, b finished) int { return cmp.Compare(a.game, b.game) })
	r.queue = append(r.queue, r.fresh...)
	r.finished += uint64(len(r.fresh))
	clear(r.fresh)
	r.fresh = r.fresh[:0]
}

// fitting returns the length of the oldest records that fit into a response of most bytes.
func (r *recorder) fitting(most int) (size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, one := range r.queue {
		n := size + len(one.lines)
		if k > 0 && n > min(most, mostFetched) {
			break
		}
		size = n
	}
	return size
}

// A harvest is what records returns.
type harvest struct {
	lines                          []byte
	count, waiting                 int
	finished, dropped, interrupted uint64
}

// take removes the oldest records that fit into size bytes. Others may have become the oldest since fitting.
func (r *recorder) take(size int) harvest {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := harvest{lines: make([]byte, 0, size)}
	for len(r.queue) > 0 && len(out.lines)+len(r.queue[0].lines) <= size {
		out.lines = append(out.lines, r.queue[0].lines...)
		out.count++
		r.forget()
	}
	out.waiting, out.finished, out.dropped, out.interrupted = len(r.queue), r.finished, r.dropped, r.interrupted
	return out
}

// forget removes the oldest record. r.mu is locked.
func (r *recorder) forget() {
	r.used -= r.queue[0].size()
	r.queue[0] = finished{}
	r.queue = r.queue[1:]
}

// stop drops the episodes in progress. No game is being stepped, and none is traced any more.
func (r *recorder) stop() {
	r.settle()
	r.stopped = true
	clear(r.drafts)
}
