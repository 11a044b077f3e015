package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// agentRoom is how many bytes of a savedGame one seat is expected to need, beside the snapshot.
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
		games = g.append(games, h.kind())
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
		for _, o := range g.opponents {
			maps.Copy(need, h.opponents.known[o.number].weights)
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
func (h *handle) save(i int) (*savedGame, error) {
	g := &savedGame{}
	var err error
	if g.snapshot, err = h.env.Snapshot(i, nil); err != nil {
		return nil, err
	}
	for seat := range h.c.Seats {
		if at := h.env.Seated(i, seat); at.Agent != nil {
			memory, err := memoryOf(at.Agent, fmt.Sprintf("the opponent of seat %d", seat), h.opponents.known[at.Choice.ID].spec)
			if err != nil {
				return nil, err
			}
			g.opponents = append(g.opponents, savedAgent{seat: seat, number: at.Choice.ID, memory: memory})
		}
		k := i*h.c.Seats + seat
		if h.policy == nil || h.policy.agents[k] == nil {
			continue
		}
		memory, err := memoryOf(h.policy.agents[k], "the rollout policy", h.policy.text)
		if err != nil {
			return nil, err
		}
		g.policy = append(g.policy, savedAgent{seat: seat, at: h.policy.episode[k], memory: memory})
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
