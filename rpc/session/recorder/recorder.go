// Package recorder writes down the games that clients play on a server: those in progress, and others until fetched.
package recorder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"blockyard/datasets/record"
	"blockyard/env"
)

// Options say what a Recorder records.
type Options struct {
	Game    *env.Game
	Envs    int                  // games that are stepped together
	First   uint64               // number of game 0 when games are split over several servers
	Every   uint64               // of so many episodes one is recorded, at least 1
	Chosen  []bool               // by game; nil for all
	Memory  int64                // bytes of records, in progress and finished
	Largest int64                // bytes of one record
	Players func(i int) []string // who sits where in game i's episode
	To      func(*record.Record) // gets finished records, which are then not kept; nil for none. Workers call it
	Before  Before               // what is known of an earlier recording of these games, which this one goes on with
}

// Before is what a client has of a recording.
type Before struct {
	Given                []uint32 // by game: how many of its records; nil for none. Those are not made again
	Dropped, Interrupted uint64   // episodes
}

// A Recorder writes down episodes of some games. It passes the finished ones on, or keeps them as lines of JSON until
// the client fetches them. Its memory is bounded: if there is no room, the oldest finished records are dropped; if that
// is not enough, the episode in progress is. It implements vec.Tracer.
type Recorder struct {
	Options
	stopped bool
	running []*running // by game; nil if its episode is not recorded. Only the worker of a game uses its own

	mu    sync.Mutex // games may be stepped while records are fetched
	ended []uint32   // by game: how many records it had, with those of an earlier recording
	fresh []finished // of the step in progress, in no order
	queue []finished // oldest first
	used  int64      // bytes of drafts, fresh and queue

	finished, dropped, interrupted uint64 // episodes
}

// NewRecorder returns a Recorder that has recorded nothing yet.
func NewRecorder(o Options) *Recorder {
	return &Recorder{Options: o, running: make([]*running, o.Envs), ended: make([]uint32, o.Envs),
		dropped: o.Before.Dropped, interrupted: o.Before.Interrupted}
}

// A running is the record of an episode in progress.
type running struct {
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
	// MostFetched is how many bytes of records a batch has, if it has more than one record.
	MostFetched = 4 << 20

	runningSize  = 512 // bytes of a record in progress without its choices
	finishedSize = 64  // bytes of a finished record without its lines
	firstChoices = 64  // choices that it has room for at first
)

// Size is the memory that the recording counts for, in bytes.
func (r *Recorder) Size() int64 { return r.Memory + 17*int64(len(r.running)) }

// Begin chooses every r.Every-th episode, counted over the games and each game's episodes, so that at any
// time about one in r.Every games is recorded.
func (r *Recorder) Begin(i int, episode, seed uint64) bool {
	if r.Chosen != nil && !r.Chosen[i] || (r.First+uint64(i)+episode)%r.Every != 0 {
		return false
	}
	d := &running{episode: episode, size: runningSize + 2*firstChoices}
	if !r.hold(d.size) {
		r.release(0, &r.dropped)
		return false
	}
	d.rec = *record.New(r.Game, seed, r.Players(i))
	d.rec.Choices = make([]env.Action, 0, firstChoices)
	r.running[i] = d
	return true
}

// Move implements vec.Tracer: it adds a step to the record of game i, unless that would take too much memory.
func (r *Recorder) Move(i int, acting env.Seats, moves env.Moves) {
	d := r.running[i]
	if len(d.rec.Choices)+env.MaxSeats > cap(d.rec.Choices) && !d.lost {
		more := int64(2 * cap(d.rec.Choices))
		if d.size+more > r.Largest || !r.hold(more) {
			d.lost = true
			d.rec.Choices = nil
			r.release(d.size-runningSize, nil)
			d.size = runningSize
		} else {
			d.rec.Choices = slices.Grow(d.rec.Choices, cap(d.rec.Choices))
			d.size += more
		}
	}
	if !d.lost {
		d.rec.Add(acting, moves)
	}
}

// End implements vec.Tracer: it completes the record of game i, as JSON, and keeps it until it is taken.
func (r *Recorder) End(i int, last env.State) {
	d := r.running[i]
	r.running[i] = nil
	if d.lost {
		r.release(d.size, &r.dropped)
		return
	}
	r.release(d.size, nil)
	if r.given(i) {
		return
	}
	d.rec.End(last)
	d.rec.Meta = map[string]string{
		"env":     strconv.FormatUint(r.First+uint64(i), 10),
		"episode": strconv.FormatUint(d.episode, 10),
	}
	if r.To != nil {
		r.To(&d.rec)
		r.release(0, &r.finished)
		return
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
	if err != nil || one.size() > r.Largest || !r.hold(one.size()) {
		r.release(0, &r.dropped)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh = append(r.fresh, one)
	r.ended[i]++
}

// given reports whether the client has the record of game i that has just ended.
func (r *Recorder) given(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.Before.Given) == 0 || r.ended[i] >= r.Before.Given[i] {
		return false
	}
	r.ended[i]++
	return true
}

// Cut ends all records in progress, as of games that were stopped in these positions. No game is being stepped, and the
// caller has none traced any more.
func (r *Recorder) Cut(position func(i int) env.State) {
	for i, d := range r.running {
		if d != nil {
			r.End(i, position(i))
		}
	}
	r.Settle()
}

// texts are buffers to write records to.
var texts = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// Drop implements vec.Tracer: it forgets the record of a game that does not end.
func (r *Recorder) Drop(i int) {
	r.release(r.running[i].size, &r.interrupted)
	r.running[i] = nil
}

// hold counts n more bytes, for which finished records are dropped, and returns false if there is no room.
func (r *Recorder) hold(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.used+n > r.Memory && len(r.queue) > 0 {
		r.forget()
		r.dropped++
	}
	if r.used+n > r.Memory {
		return false
	}
	r.used += n
	return true
}

// release counts n bytes less, and one more of some episodes unless that is nil.
func (r *Recorder) release(n int64, episodes *uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	if episodes != nil {
		*episodes++
	}
}

// Settle queues the records of the last step in the order of the games, whichever worker finished first. A nil Recorder
// has none.
func (r *Recorder) Settle() {
	if r == nil {
		return
	}
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

// Fitting returns the length of the oldest records that fit into a response of most bytes.
func (r *Recorder) Fitting(most int) (size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, one := range r.queue {
		n := size + len(one.lines)
		if k > 0 && n > min(most, MostFetched) {
			break
		}
		size = n
	}
	return size
}

// A Batch is some finished records, and what the recorder has counted so far.
type Batch struct {
	Lines                          []byte   // of JSON
	Count, Waiting                 int      // records in Lines, and left
	Given                          []uint32 // by game: how many of its records were taken or dropped so far
	Finished, Dropped, Interrupted uint64   // episodes
}

// Take removes the oldest records that fit into size bytes. Others may have become the oldest since Fitting.
func (r *Recorder) Take(size int) Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Batch{Lines: make([]byte, 0, size)}
	for len(r.queue) > 0 && len(out.Lines)+len(r.queue[0].lines) <= size {
		out.Lines = append(out.Lines, r.queue[0].lines...)
		out.Count++
		r.forget()
	}
	out.Given = slices.Clone(r.ended)
	for _, left := range [][]finished{r.queue, r.fresh} {
		for _, one := range left {
			out.Given[one.game]--
		}
	}
	out.Waiting, out.Finished, out.Dropped, out.Interrupted = len(r.queue), r.finished, r.dropped, r.interrupted
	return out
}

// forget removes the oldest record. r.mu is locked.
func (r *Recorder) forget() {
	r.used -= r.queue[0].size()
	r.queue[0] = finished{}
	r.queue = r.queue[1:]
}

// Stop drops the episodes in progress. No game is being stepped, and none is traced any more.
func (r *Recorder) Stop() {
	r.Settle()
	r.stopped = true
	clear(r.running)
}

// Stopped reports whether Stop was called.
func (r *Recorder) Stopped() bool { return r.stopped }

// A Recording is how far the recording of a game has come, one line of JSON.
type Recording struct {
	Game    int          `json:"game"`            // its place in the handle
	Ended   uint32       `json:"ended,omitempty"` // records of earlier episodes
	Episode uint64       `json:"episode,string"`
	Seed    uint64       `json:"seed,string"`
	Agents  []string     `json:"agents"` // none if the episode in progress is not recorded
	Choices []env.Action `json:"choices"`
	Lost    bool         `json:"lost,omitempty"`
}

// AppendRecording appends the recording of game i, which is not being stepped, unless it has not begun.
func (r *Recorder) AppendRecording(dst []byte, i int) ([]byte, error) {
	if r == nil || r.stopped || r.running[i] == nil && r.ended[i] == 0 {
		return dst, nil
	}
	one := Recording{Game: i, Ended: r.ended[i]}
	if d := r.running[i]; d != nil {
		one = Recording{i, r.ended[i], d.episode, d.rec.Seed, d.rec.Agents, d.rec.Choices, d.lost}
	}
	line, err := json.Marshal(one)
	return append(append(dst, line...), '\n'), err
}

// ReadRecordings reads the recordings of some of the games in list, each with so many seats.
func ReadRecordings(lines []byte, list []int, seats int) (all []Recording, err error) {
	named := make(map[int]bool, len(list))
	for _, i := range list {
		named[i] = true
	}
	for from := json.NewDecoder(bytes.NewReader(lines)); ; {
		var d Recording
		err := from.Decode(&d)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
		case !named[d.Game]:
			err = fmt.Errorf("game %d is not resumed, or has two", d.Game)
		case len(d.Agents) != seats && len(d.Agents)+len(d.Choices) > 0:
			err = fmt.Errorf("%d agents, want %d", len(d.Agents), seats)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(all)+1, err)
		}
		named[d.Game] = false
		all = append(all, d)
	}
}

// Continue goes on with recordings of games that were resumed. trace has a game traced and reports whether it is.
func (r *Recorder) Continue(all []Recording, trace func(i int) bool) {
	for _, s := range all {
		if r.ended[s.Game] = s.Ended; len(s.Agents) == 0 {
			continue
		}
		d := &running{rec: *record.New(r.Game, s.Seed, s.Agents), episode: s.Episode, lost: s.Lost, size: runningSize}
		if !d.lost {
			d.rec.Choices = make([]env.Action, len(s.Choices), len(s.Choices)+firstChoices)
			copy(d.rec.Choices, s.Choices)
			d.size += 2 * int64(cap(d.rec.Choices))
		}
		if !r.hold(d.size) {
			r.release(0, &r.dropped)
			continue
		}
		r.running[s.Game] = d
		if !trace(s.Game) {
			r.release(d.size, nil)
			r.running[s.Game] = nil
		}
	}
}
