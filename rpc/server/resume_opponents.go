package server

import (
	"errors"
	"fmt"

	"blockyard/env/vec"
	"blockyard/rpc/server/checkpoint"
	"blockyard/rpc/wire"
)

// lineup returns the opponents of the head, of which those are loaded that h has loaded, and no mixtures. more is
// the memory of those that h does not know, which the caller accounts for.
func (h *handle) lineup(head *checkpoint.Head) (l *lineup, more int64) {
	l = &lineup{known: make([]opponent, len(head.Opponents)), numbers: map[string]int{},
		mixtures: make([]vec.Mixture, head.Seats), memory: h.opponents.search, search: h.opponents.search,
		workers: h.opponents.workers, agents: h.opponents.agents}
	for id, spec := range head.Opponents {
		l.known[id].spec, l.numbers[spec] = spec, id
		if old, ok := h.opponents.numbers[spec]; ok {
			l.known[id] = h.opponents.known[old]
			l.memory += l.known[id].memory + entryMemory(spec)
		} else {
			more += entryMemory(spec)
		}
	}
	return l, more
}

// fill gives l the mixtures of the head, and loads the opponents that they have or that used has.
func (l *lineup) fill(s *session, h *handle, head *checkpoint.Head, used map[uint16]bool) error {
	for seat, m := range head.Mixtures {
		for _, c := range m {
			if err := l.ready(s, h, c.Number); err != nil {
				return err
			}
			choice := vec.Choice{Agent: l.known[c.Number].factory, Weight: c.Weight, ID: c.Number}
			l.mixtures[seat] = append(l.mixtures[seat], choice)
		}
		if err := l.mixtures[seat].Check(); err != nil {
			return badCheckpoint(-1, fmt.Errorf("the opponents of seat %d: %w", seat, err))
		}
	}
	for id := range used {
		if err := l.ready(s, h, id); err != nil {
			return err
		}
	}
	return nil
}

// ready loads an opponent, unless it is loaded.
func (l *lineup) ready(s *session, h *handle, number uint16) error {
	_, err := l.load(s, h.game, l.known[number].spec, false)
	var refused *wire.Error
	if err != nil && !errors.As(err, &refused) {
		return wire.Errorf(wire.BadParams, "resume: %v", err)
	}
	return err
}

// badCheckpoint is the error for bytes that are no checkpoint of games of a handle; game is its place among them, -1
// for all together.
func badCheckpoint(game int, err error) error {
	if game < 0 {
		return wire.Errorf(wire.BadState, "resume: the checkpoint does not fit: %v", err).With("index", 0)
	}
	return wire.Errorf(wire.BadState, "resume: game %d of the checkpoint: %v", game, err).With("index", game)
}
