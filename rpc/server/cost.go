package server

import (
	"errors"
	"fmt"

	"blockyard/agents/bots/entry"
	"blockyard/env"
	"blockyard/rpc/wire"
)

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
