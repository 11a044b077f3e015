package batch

import (
	"slices"

	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// Step plays Actions and writes the result to p. It allocates nothing.
func (b *Batch) Step(p *Place) error {
	if err := b.Env.Step(b.Actions, p.batch); err != nil {
		return err
	}
	if err := b.finish(p); err != nil {
		return err
	}
	b.Recorder.Settle()
	b.Ended = b.Ended[:0]
	for i := range b.private.terminated {
		if b.over(i) {
			b.Ended = append(b.Ended, i)
		}
	}
	return nil
}

// over reports whether game i ended in the last step.
func (b *Batch) over(i int) bool { return b.private.terminated[i]|b.private.truncated[i] != 0 }

// Reset starts the games of mask, nil for all, in p. Without seeds, the first reset has those of the options.
func (b *Batch) Reset(seeds *vec.Seeds, mask []bool, p *Place) error {
	if mask != nil {
		if err := b.Awake("reset with a mask"); err != nil {
			return err
		}
	}
	if b.Stream != nil {
		if sent, _ := b.Stream.InFlight(); sent > 0 && mask != nil {
			return wire.Errorf(wire.BadParams, "reset with a mask: %d games were sent and have not been received: "+
				"call recv first", sent)
		}
		b.Stream.Drop()
	}
	switch {
	case seeds != nil:
		return b.reset(*seeds, mask, p)
	case !b.began:
		return b.reset(b.seeds, mask, p)
	}
	return b.reset(vec.Seeds{}, mask, p)
}

func (b *Batch) reset(seeds vec.Seeds, mask []bool, p *Place) error {
	if err := b.Env.Reset(seeds, mask, p.batch); err != nil {
		return err
	}
	if err := b.finish(p); err != nil {
		return err
	}
	b.Ended = b.Ended[:0]
	b.began = b.began || mask == nil
	return nil
}

// Replay plays logged steps of games, after which the games, their agents and their last observations are as if the
// steps had just been taken. Searches are not repeated.
func (b *Batch) Replay(logs []vec.Log) error {
	if err := b.Env.Replay(logs, b.Own.batch); err != nil {
		return err
	}
	b.counted.illegal, _ = b.Env.Counted() // they were counted when they were played
	if err := b.finish(b.Own); err != nil {
		return err
	}
	b.Recorder.Settle()
	played := make([]bool, b.Config.Envs)
	for _, l := range logs {
		played[l.Env] = true
	}
	b.Ended = slices.DeleteFunc(b.Ended, func(i int) bool { return played[i] })
	for _, l := range logs {
		if b.over(l.Env) {
			b.Ended = append(b.Ended, l.Env)
		}
	}
	slices.Sort(b.Ended)
	return nil
}

// Observe returns what every seat of some games observes, whether or not it acts, is driven or has a game left.
func (b *Batch) Observe(list []int) (planes []uint8, globals []float32) {
	width, extra, seats := b.Game.Planes.Len(), b.Game.Globals(), b.Config.Seats
	planes, globals = make([]uint8, len(list)*seats*width), make([]float32, len(list)*seats*extra)
	for k, i := range list {
		state := b.Env.State(i)
		for seat := range seats {
			at := k*seats + seat
			state.Observe(seat, planes[at*width:(at+1)*width], globals[at*extra:(at+1)*extra])
		}
	}
	return planes, globals
}
