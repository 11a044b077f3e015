package batch

import (
	"blockyard/datasets/record"
	"blockyard/env/vec"
	"blockyard/rpc/session/checkpoint"
	"blockyard/rpc/session/recorder"
)

// Reward returns the reward of a seat of game i in the last step.
func (b *Batch) Reward(i, seat int) float32 { return b.now.batch.Reward[i*b.Config.Seats+seat] }

// A Copy is a game of a batch with its opponents and its recording. It serves batches of this process that
// were opened with the same options; others need a checkpoint.
type Copy struct {
	game      *checkpoint.Game
	alone     bool // without its opponents
	recording []byte
}

// Copy copies game i. If an opponent cannot be copied, as a program or an agent with a clock, another will play on.
func (b *Batch) Copy(i int) (c *Copy, err error) {
	c = &Copy{}
	if c.game, err = b.save(i); err != nil {
		c.alone, c.game = true, &checkpoint.Game{}
		if c.game.Snapshot, err = b.Env.Snapshot(i, nil); err != nil {
			return nil, err
		}
	}
	c.recording, err = b.Recorder.AppendRecording(nil, i)
	return c, err
}

// Paste makes game i, which c was copied from in another batch, that of c.
func (b *Batch) Paste(i int, c *Copy) error {
	recordings, err := b.recordings(c.recording, []int{i})
	if err != nil {
		return err
	}
	if c.alone {
		err = b.Env.Restore(i, c.game.Snapshot)
	} else {
		agents := make([]vec.Seated, b.Config.Seats)
		if err = b.Opponents.recall(c.game, agents); err == nil {
			err = b.Env.Resume(i, c.game.Snapshot, agents)
		}
	}
	if err == nil && len(recordings) > 0 {
		b.Recorder.Continue(recordings, b.Env.ContinueTrace)
	}
	return err
}

// toMemory is how many bytes the record in progress of a game takes at most that is recorded by RecordTo.
const toMemory = 256 << 10

// RecordTo records every episode of all games but those in progress, and calls write with each when it has ended. names
// are those of who plays the driven seats, by seat.
func (b *Batch) RecordTo(names []string, write func(*record.Record)) error {
	most := int64(toMemory * b.Config.Envs)
	err := b.Record(1, nil, names, &most, recorder.Before{})
	if err == nil {
		b.Recorder.To = write
	}
	return err
}

// CutRecords ends the records of all episodes in progress, as of games that were stopped before their end.
func (b *Batch) CutRecords() {
	if b.Recorder != nil {
		b.Recorder.Cut(b.Env.State)
		b.Env.Trace(b.Recorder)
	}
}
