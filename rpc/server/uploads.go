package server

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/checkpoint"
	"blockyard/rpc/wire"
)

// uploadMemory is the estimated size of an upload besides its bytes.
const uploadMemory = 1 << 10

// errNotUploaded is an error for specs that name weights the session does not have.
var errNotUploaded = errors.New("no such weights were uploaded in this session: call upload first")

// weights are uploaded files by name.
type weights map[string][]byte

// memory is the estimated memory of a spec that was loaded from w, and of w.
func (w weights) memory() int64 {
	n := int64(specMemory)
	for _, data := range w {
		n += int64(len(data))
	}
	return n
}

// words are a spec that the client itself has written, or that stands in a checkpoint, which never names files and
// programs of this machine.
func (s *session) words(spec string, own bool, uploads entry.Reader) bots.Text {
	if own && s.srv.c.Trusted {
		return bots.Own(spec).With(uploads)
	}
	return bots.Foreign(spec, uploads)
}

// agent parses the spec of an opponent or policy, written by the client itself or not. It returns the uploads that the
// spec loads.
func (s *session) agent(g *env.Game, spec string, own bool) (vec.AgentFactory, weights, error) {
	return s.agentFrom(g, spec, own, s.uploads)
}

// agentFrom parses a spec that may name the given uploads, and returns those that it loads.
func (s *session) agentFrom(g *env.Game, spec string, own bool, uploads weights) (
	f vec.AgentFactory, used weights, err error) {
	if s.srv.c.Agents == nil {
		return nil, nil, errors.New("this server has no agents: leave out opponents and policy")
	}
	used = weights{}
	f, err = s.srv.c.Agents(g, s.words(spec, own, func(name string) ([]byte, error) {
		data, err := uploads.find(name)
		if err == nil {
			used[name] = data
		}
		return data, err
	}))
	return f, used, err
}

// find returns the weights with a name.
func (w weights) find(name string) ([]byte, error) {
	data, ok := w[name]
	if !ok {
		return nil, fmt.Errorf("%.80s: %w", name, errNotUploaded)
	}
	return data, nil
}

// upload keeps weights for the session, after checking that they are those that the spec names and that
// the spec can load them.
func (s *session) upload(f *wire.Frame) error {
	g, err := s.gameParam(f)
	if err != nil {
		return err
	}
	spec, err := f.Str(1, "spec")
	if err != nil {
		return err
	}
	data, err := f.Bin(2, "weights")
	if err != nil {
		return err
	}
	name := bots.ContentName(data)
	if len(spec) > checkpoint.MostSpec || !strings.Contains(spec, "weights="+name) {
		return wire.Errorf(wire.BadParams, "upload: the %d bytes are %s, but the spec is %.160q: name them there, "+
			"or read the file again if it has changed", len(data), name, spec)
	}
	_, used, err := s.agentFrom(g, spec, false, weights{name: data})
	if err != nil {
		return wire.Errorf(wire.BadParams, "upload: %v", err)
	}
	if len(used) == 0 {
		return wire.Errorf(wire.BadParams, "upload: %.160q does not load the weights", spec)
	}
	if s.uploads[name] == nil {
		if err := s.account(0, 0, int64(len(data))+uploadMemory); err != nil {
			return err
		}
		s.uploads[name] = bytes.Clone(data)
	}
	return s.reply(f.ID, true)
}

// dropUpload frees uploaded weights. Opponents that have been loaded from them play on.
func (s *session) dropUpload(f *wire.Frame) error {
	name, err := f.Str(0, "name")
	if err != nil {
		return err
	}
	if s.uploads[name] == nil {
		return wire.Errorf(wire.BadParams, "drop_upload: %.100q: %v", name, errNotUploaded)
	}
	s.forgetUpload(name)
	return s.reply(f.ID, true)
}

func (s *session) forgetUpload(name string) {
	s.account(0, 0, -int64(len(s.uploads[name]))-uploadMemory)
	delete(s.uploads, name)
}

// agentsMemory returns the most that the agents of a spec take, before they are made.
func (s *session) agentsMemory(g *env.Game, spec string, own bool) (entry.Memory, error) {
	if s.srv.c.AgentMemory == nil {
		return entry.Memory{}, nil
	}
	return s.srv.c.AgentMemory(g, s.words(spec, own, weights(s.uploads).find))
}

// accountAgents accounts for n bytes that the agents of a spec take. Its error names the spec.
func (s *session) accountAgents(spec string, n int64) error {
	err := s.account(0, 0, n)
	var refused *wire.Error
	if errors.As(err, &refused) {
		refused.Msg = fmt.Sprintf("the agents of %.80q take %d bytes: %s", spec, n, refused.Msg)
		return refused.With("spec", spec)
	}
	return err
}

// beyond is what so many agents take more than each handle counts for its agents.
func beyond(m entry.Memory, agents int) int64 {
	return int64(agents) * max(0, m.Agent-agentMemory)
}
