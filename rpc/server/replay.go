package server

import (
	"encoding/binary"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// replay plays logged steps of games, after which the games, their agents and what final returns are as if the steps
// had just been taken. Searches are not repeated.
func (s *session) replay(f *wire.Frame, h *handle) error {
	list, err := h.begunGames(f)
	if err != nil {
		return err
	}
	logs, err := h.readLogs(f, list)
	if err != nil {
		return err
	}
	if err := h.env.Replay(logs, h.own.batch); err != nil {
		return refused("replay", err)
	}
	h.illegal = h.env.IllegalActions() // they were counted when they were played
	if err := h.finish(h.own); err != nil {
		return err
	}
	if h.recorder != nil {
		h.recorder.Settle()
	}
	played := make([]bool, h.c.Envs)
	for _, l := range logs {
		played[l.Env] = true
	}
	h.ended = slices.DeleteFunc(h.ended, func(i int) bool { return played[i] })
	for _, l := range logs {
		if h.private.terminated[l.Env]|h.private.truncated[l.Env] != 0 {
			h.ended = append(h.ended, l.Env)
		}
	}
	slices.Sort(h.ended)
	return s.reply(f.ID, true)
}

// readLogs reads the steps of the games in list: how many of each game, their actions and the moves of agents. Games
// without steps are left out.
func (h *handle) readLogs(f *wire.Frame, list []int) ([]vec.Log, error) {
	var data [3][]byte
	for k, name := range []string{"lengths", "actions", "moves"} {
		var err error
		if data[k], err = f.Bin(2+k, name); err != nil {
			return nil, err
		}
	}
	lengths, actions, moves := data[0], data[1], data[2]
	if len(lengths) != 4*len(list) {
		return nil, wire.Errorf(wire.BadParams, "replay: lengths has %d bytes, want 4 for each of %d games",
			len(lengths), len(list))
	}
	steps := 0
	for k := range list {
		steps += int(binary.LittleEndian.Uint32(lengths[4*k:]))
	}
	row, move := 2*h.env.Rows(), 0
	if h.env.Driven().Len() < h.c.Seats {
		move = 2 * vec.MovesLen
	}
	if len(actions) != steps*row || len(moves) != steps*move {
		return nil, wire.Errorf(wire.BadParams, "replay: %d bytes of actions and %d of moves, want %d and %d: %d and %d "+
			"for each of %d steps", len(actions), len(moves), steps*row, steps*move, row, move, steps)
	}
	logs := make([]vec.Log, 0, len(list))
	for k, i := range list {
		n := int(binary.LittleEndian.Uint32(lengths[4*k:]))
		if n == 0 {
			continue
		}
		l := vec.Log{Env: i, Actions: words[env.Action](actions[:n*row])}
		if move > 0 {
			l.Moves = words[uint16](moves[:n*move])
		}
		logs = append(logs, l)
		actions, moves = actions[n*row:], moves[n*move:]
	}
	return logs, nil
}

// words reads little-endian numbers of two bytes.
func words[T ~uint16](b []byte) []T {
	out := make([]T, len(b)/2)
	for k := range out {
		out[k] = T(binary.LittleEndian.Uint16(b[2*k:]))
	}
	return out
}

// repeatable returns an error unless the agents of all mixtures can go on elsewhere exactly as here.
func (l *lineup) repeatable(method string) error {
	for seat, m := range l.mixtures {
		for _, c := range m {
			a, err := c.Agent(0)
			if err == nil {
				_, err = appendMemory(a)
				if closed := vec.CloseAgents([]env.Agent{a}); err == nil {
					err = closed
				}
			}
			if err != nil {
				return wire.Errorf(wire.BadParams, "%s: log: the opponent %.80q of seat %d cannot be replayed elsewhere: %v",
					method, l.known[c.ID].spec, seat, err)
			}
		}
	}
	return nil
}
