package batch

import (
	"math"

	"blockyard/rpc/server/games"
)

// Bounds on a recording, and its memory by default.
const (
	recordMemory = 8 << 20 // bytes of records waiting
	gameMemory   = 4 << 10 // bytes of a record in progress
	leastRecords = 64 << 10
	mostRecords  = 1 << 30
)

// RecordOptions say which episodes are recorded.
type RecordOptions struct {
	Every  int64    // one of so many episodes
	Games  []int    // nil for all
	Names  []string // of who plays the driven seats, by seat
	Memory *int64   // bytes; nil for the default
}

// Record starts to record episodes. Those in progress are not recorded.
func (b *Batch) Record(o RecordOptions) error {
	if b.Recorder != nil {
		return badParams("record: handle %d is being recorded: call records with stop until waiting is 0", b.ID)
	}
	if o.Every < 1 {
		return badParams("record: every is %d, want 1 to %d", o.Every, math.MaxInt64)
	}
	memory := min(recordMemory+gameMemory*(int64(b.Config.Envs)/o.Every+1), mostRecords)
	if o.Memory != nil {
		if memory = *o.Memory; memory < leastRecords || memory > mostRecords {
			return badParams("record: memory is %d, want %d to %d", memory, leastRecords, mostRecords)
		}
	}
	what := games.Options{Game: b.Game, Envs: b.Config.Envs, First: b.First, Every: uint64(o.Every), Memory: memory,
		Largest: min(memory, int64(b.tab.Room())),
		Players: func(i int) []string { return b.Players(i, o.Names) }}
	if o.Games != nil {
		what.Chosen = make([]bool, b.Config.Envs)
		for _, i := range o.Games {
			what.Chosen[i] = true
		}
	}
	r := games.NewRecorder(what)
	if err := b.tab.Add(r.Size()); err != nil {
		return err
	}
	b.Recorder = r
	b.Env.Trace(r)
	return nil
}

// StopRecording ends the recording, but for the records that wait to be taken.
func (b *Batch) StopRecording() {
	if b.Stream != nil {
		b.Stream.Settle()
	}
	b.Env.Trace(nil)
	b.Recorder.Stop()
}

// EndRecording frees the memory of a recording.
func (b *Batch) EndRecording() {
	_ = b.tab.Add(-b.Recorder.Size())
	b.Recorder = nil
}
