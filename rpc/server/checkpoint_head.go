package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// A checkpointHead is what a checkpoint says of all its games together, as JSON. Games go on only in a handle
// that was opened with the same options, apart from the opponents and from those that choose what the client sees.
type checkpointHead struct {
	Format    int                `json:"format"`
	Game      string             `json:"game"`
	Rules     int                `json:"rules"`
	Seats     int                `json:"seats"`
	Players   []int              `json:"players"`
	Rows      string             `json:"rows"`
	Autoreset string             `json:"autoreset"`
	Reward    string             `json:"reward"`
	Illegal   string             `json:"illegal"`
	MaxSteps  int                `json:"max_episode_steps"`
	Opponents []string           `json:"opponents"` // specs, by number
	Mixtures  [][]weightedNumber `json:"mixtures"`  // by seat, of episodes to come
	Policy    string             `json:"policy"`    // of rollouts, "" for none
}

// A weightedNumber is an opponent's number in a mixture and its weight.
type weightedNumber struct {
	Number uint16  `json:"number"`
	Weight float64 `json:"weight"`
}

const checkpointFormat = 1

func (h *handle) checkpointHead() *checkpointHead {
	head := &checkpointHead{
		Format: checkpointFormat, Game: h.game.Name, Rules: h.game.Rules, Seats: h.c.Seats, Players: h.drivenSeats(),
		Rows: h.c.Rows.String(), Autoreset: h.c.Autoreset.String(), Reward: h.c.Reward.String(),
		Illegal: h.c.Illegal.String(), MaxSteps: h.c.StepLimit,
		Opponents: h.opponents.specs(0), Mixtures: h.opponents.weights(),
	}
	if h.policy != nil {
		head.Policy = h.policy.text
	}
	return head
}

// weights lists the numbers and weights of the mixtures, by seat.
func (l *lineup) weights() [][]weightedNumber {
	all := make([][]weightedNumber, len(l.mixtures))
	for seat, m := range l.mixtures {
		all[seat] = []weightedNumber{}
		for _, c := range m {
			all[seat] = append(all[seat], weightedNumber{c.ID, c.Weight})
		}
	}
	return all
}

// readHead reads the head of a checkpoint, which must be that of a handle like h but for the opponents and the
// policy.
func (h *handle) readHead(b []byte) (*checkpointHead, error) {
	version := struct {
		Format int `json:"format"`
	}{}
	if err := json.Unmarshal(b, &version); err != nil {
		return nil, fmt.Errorf("its head is no JSON: %w", err)
	}
	if version.Format != checkpointFormat {
		return nil, otherFormat(version.Format)
	}
	head := new(checkpointHead)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(head); err != nil {
		return nil, fmt.Errorf("its head: %w", err)
	}
	want := h.checkpointHead()
	for _, c := range []struct {
		name       string
		have, want any
	}{
		{"game", head.Game, want.Game}, {"rules version", head.Rules, want.Rules}, {"seats", head.Seats, want.Seats},
		{"driven seats", fmt.Sprint(head.Players), fmt.Sprint(want.Players)}, {"rows", head.Rows, want.Rows},
		{"autoreset mode", head.Autoreset, want.Autoreset}, {"reward", head.Reward, want.Reward},
		{"illegal", head.Illegal, want.Illegal}, {"max_episode_steps", head.MaxSteps, want.MaxSteps},
	} {
		if c.have != c.want {
			return nil, fmt.Errorf("%s is %v in the checkpoint and %v in this environment: they must be equal",
				c.name, c.have, c.want)
		}
	}
	return head, head.checkOpponents(want.Players)
}

func otherFormat(version int) error {
	return fmt.Errorf("it has version %d of the format of checkpoints, this server reads version %d",
		version, checkpointFormat)
}

// checkOpponents wants different specs, and a mixture of them for every seat that is not driven.
func (head *checkpointHead) checkOpponents(driven []int) error {
	if n := len(head.Opponents); n > mostOpponents {
		return fmt.Errorf("its head has %d opponents, want up to %d", n, mostOpponents)
	}
	seen := map[string]bool{}
	for k, spec := range head.Opponents {
		if len(spec) > mostSpec || seen[spec] {
			return fmt.Errorf("its head has opponent %d, %.40q, twice or with more than %d bytes", k, spec, mostSpec)
		}
		seen[spec] = true
	}
	if len(head.Mixtures) != head.Seats {
		return fmt.Errorf("its head has mixtures for %d seats, want %d", len(head.Mixtures), head.Seats)
	}
	for seat, m := range head.Mixtures {
		if none := len(m) == 0; none != slices.Contains(driven, seat) || len(m) > mostChoices {
			return fmt.Errorf("its head has %d opponents for seat %d, want up to %d, and none for a driven seat",
				len(m), seat, mostChoices)
		}
		for _, c := range m {
			if int(c.Number) >= len(head.Opponents) {
				return fmt.Errorf("its head has opponent %d for seat %d, want less than %d", c.Number, seat, len(head.Opponents))
			}
		}
	}
	return nil
}

// lineup returns the opponents of the head, of which those are loaded that h has loaded, and no mixtures. more is
// the memory of those that h does not know, which the caller accounts for.
func (head *checkpointHead) lineup(h *handle) (l *lineup, more int64) {
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
func (l *lineup) fill(s *session, h *handle, head *checkpointHead, used map[uint16]bool) error {
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
