package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/checkpoint"
	"blockyard/rpc/wire"
)

// agentRoom is how many bytes of a game one seat is expected to need, beside the snapshot.
const agentRoom = 256

// checkpoint responds with games, as many as fit into one response, and their head.
func (s *session) checkpoint(f *wire.Frame, h *handle) error {
	list, err := s.fitting(f, h, h.stateLen()+h.c.Seats*agentRoom)
	if err != nil {
		return err
	}
	var o struct {
		Drafts bool `msgpack:"drafts"`
	}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	if size := h.opponents.listed(0); size > s.srv.limits.MaxReply {
		return s.srv.ledger.ExceedsReply(size)
	}
	head, err := json.Marshal(h.checkpointHead())
	if err != nil {
		return err
	}
	var games, drafts []byte
	need := weights{}
	for _, m := range h.opponents.mixtures {
		for _, c := range m {
			maps.Copy(need, h.opponents.known[c.ID].weights)
		}
	}
	if h.policy != nil {
		maps.Copy(need, h.policy.weights)
	}
	for k, i := range list {
		g, err := h.save(i)
		if err != nil {
			return err
		}
		before, whole := len(games), len(drafts)
		games = g.Append(games, h.kind())
		if o.Drafts {
			if drafts, err = h.recorder.AppendInProgress(drafts, i); err != nil {
				return err
			}
		}
		if size := len(games) + len(drafts) + len(head) + replyRoom; size > s.srv.limits.MaxReply {
			if k == 0 {
				return s.srv.ledger.ExceedsReply(size)
			}
			games, drafts, list = games[:before], drafts[:whole], list[:k]
			break
		}
		for _, o := range g.Opponents {
			maps.Copy(need, h.opponents.known[o.Number].weights)
		}
	}
	names := append([]string{}, slices.Sorted(maps.Keys(need))...)
	fields := wire.Fields{"count", len(list), "head", head, "games", games, "weights", names}
	if !o.Drafts {
		return s.reply(f.ID, fields)
	}
	if err := s.reserve(len(drafts)); err != nil {
		return err
	}
	return s.reply(f.ID, append(fields, "drafts", drafts))
}

// weights responds with uploaded weights that an agent of the handle was loaded from, also if the session has
// dropped them since.
func (s *session) weights(f *wire.Frame, h *handle) error {
	name, err := f.Str(1, "name")
	if err != nil {
		return err
	}
	var data []byte
	for _, o := range h.opponents.known {
		if o.weights[name] != nil {
			data = o.weights[name]
		}
	}
	if h.policy != nil && h.policy.weights[name] != nil {
		data = h.policy.weights[name]
	}
	if data == nil {
		return wire.Errorf(wire.BadParams, "weights: no agent of handle %d was loaded from %.80q", h.id, name)
	}
	if size := len(data) + replyRoom; size > s.srv.limits.MaxReply {
		return s.srv.ledger.ExceedsReply(size)
	}
	if err := s.reserve(len(data)); err != nil {
		return err
	}
	return s.reply(f.ID, wire.Fields{"weights", data})
}

// save returns game i with the agents that play in it.
func (h *handle) save(i int) (*checkpoint.Game, error) {
	g := &checkpoint.Game{}
	var err error
	if g.Snapshot, err = h.env.Snapshot(i, nil); err != nil {
		return nil, err
	}
	for seat := range h.c.Seats {
		if at := h.env.Seated(i, seat); at.Agent != nil {
			memory, err := memoryOf(at.Agent, fmt.Sprintf("the opponent of seat %d", seat), h.opponents.known[at.Choice.ID].spec)
			if err != nil {
				return nil, err
			}
			g.Opponents = append(g.Opponents, checkpoint.Agent{Seat: seat, Number: at.Choice.ID, Memory: memory})
		}
		k := i*h.c.Seats + seat
		if h.policy == nil || h.policy.agents[k] == nil {
			continue
		}
		memory, err := memoryOf(h.policy.agents[k], "the rollout policy", h.policy.text)
		if err != nil {
			return nil, err
		}
		g.Policy = append(g.Policy, checkpoint.Agent{Seat: seat, At: h.policy.episode[k], Memory: memory})
	}
	return g, nil
}

// memoryOf returns the memory of an agent. who and spec name it in errors.
func memoryOf(a env.Agent, who, spec string) ([]byte, error) {
	memory, err := appendMemory(a)
	if err != nil {
		return nil, wire.Errorf(wire.BadParams, "checkpoint: %s, %q, cannot be saved: %v", who, spec, err)
	}
	return memory, nil
}

// appendMemory is memoryOf with the bare reason as the error.
func appendMemory(a env.Agent) ([]byte, error) {
	if agent, ok := a.(vec.Resumable); ok {
		return agent.AppendMemory(nil)
	}
	return nil, errors.New("it is a program of its own, whose memory cannot be read")
}

// checkpointHead is what a checkpoint says of all games of the handle.
func (h *handle) checkpointHead() *checkpoint.Head {
	head := &checkpoint.Head{
		Format: checkpoint.Format, Game: h.game.Name, Rules: h.game.Rules, Seats: h.c.Seats, Players: h.drivenSeats(),
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
func (l *lineup) weights() [][]checkpoint.Weighted {
	all := make([][]checkpoint.Weighted, len(l.mixtures))
	for seat, m := range l.mixtures {
		all[seat] = []checkpoint.Weighted{}
		for _, c := range m {
			all[seat] = append(all[seat], checkpoint.Weighted{Number: c.ID, Weight: c.Weight})
		}
	}
	return all
}
