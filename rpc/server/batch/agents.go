package batch

import (
	"errors"
	"fmt"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/limits"
	"blockyard/rpc/wire"
)

// Estimated bytes of one agent, and of a loaded spec without its weights.
const (
	agentMemory = 16 << 10
	specMemory  = 32 << 10
)

// Agents create what plays in the games of a client besides itself: opponents and policies.
type Agents struct {
	New     func(g *env.Game, t bots.Text) (vec.AgentFactory, error) // nil if there are none
	Memory  func(g *env.Game, t bots.Text) (entry.Memory, error)     // before they are made; nil if next to nothing
	Trusted bool                                                     // whether the client may name files and programs
	Uploads Weights                                                  // that texts may name
}

// Weights are uploaded files by name.
type Weights map[string][]byte

// ErrNotUploaded is an error for specs that name weights which the client has not uploaded.
var ErrNotUploaded = errors.New("no such weights were uploaded in this session: call upload first")

// find returns the weights with a name.
func (w Weights) find(name string) ([]byte, error) {
	data, ok := w[name]
	if !ok {
		return nil, fmt.Errorf("%.80s: %w", name, ErrNotUploaded)
	}
	return data, nil
}

// memory is the estimated memory of a spec that was loaded from w, and of w.
func (w Weights) memory() int64 {
	n := int64(specMemory)
	for _, data := range w {
		n += int64(len(data))
	}
	return n
}

// text is a spec that the client itself has written, or that stands in a checkpoint, which never names files and
// programs of this machine.
func (a *Agents) text(spec string, own bool, uploads entry.Reader) bots.Text {
	if own && a.Trusted {
		return bots.Own(spec).With(uploads)
	}
	return bots.Foreign(spec, uploads)
}

// Create parses a spec that the client itself has written, or another, and that may name these weights. It returns
// those that it loads.
func (a *Agents) Create(g *env.Game, spec string, own bool, from Weights) (
	f vec.AgentFactory, used Weights, err error) {
	if a.New == nil {
		return nil, nil, errors.New("this server has no agents: leave out opponents and policy")
	}
	used = Weights{}
	f, err = a.New(g, a.text(spec, own, func(name string) ([]byte, error) {
		data, err := from.find(name)
		if err == nil {
			used[name] = data
		}
		return data, err
	}))
	return f, used, err
}

// memory returns the most that the agents of a spec take, before they are made.
func (a *Agents) memory(g *env.Game, spec string, own bool) (entry.Memory, error) {
	if a.Memory == nil {
		return entry.Memory{}, nil
	}
	return a.Memory(g, a.text(spec, own, a.Uploads.find))
}

// load accounts for need bytes that the agents of a spec take, and for the weights, and creates what makes the agents.
func (a *Agents) load(tab *limits.Tab, g *env.Game, spec string, own bool, need int64) (
	f vec.AgentFactory, used Weights, err error) {
	before := tab.Memory()
	if err = accountAgents(tab, spec, need); err != nil {
		return nil, nil, err
	}
	if f, used, err = a.Create(g, spec, own, a.Uploads); err == nil {
		err = accountAgents(tab, spec, used.memory())
	}
	if err != nil {
		tab.Back(before)
	}
	return f, used, err
}

// refused is an error that names what could not be loaded, unless it is one for clients already.
func refused(what string, err error) error {
	if known := (*wire.Error)(nil); err == nil || errors.As(err, &known) {
		return err
	}
	return wire.Errorf(wire.BadParams, "%s: %v", what, err)
}

// accountAgents accounts for n bytes that the agents of a spec take. Its error names the spec.
func accountAgents(tab *limits.Tab, spec string, n int64) error {
	err := tab.Add(n)
	var refused *wire.Error
	if errors.As(err, &refused) {
		refused.Msg = fmt.Sprintf("the agents of %.80q take %d bytes: %s", spec, n, refused.Msg)
		return refused.With("spec", spec)
	}
	return err
}

// beyond is what so many agents take more than each batch counts for its agents.
func beyond(m entry.Memory, agents int) int64 {
	return int64(agents) * max(0, m.Agent-agentMemory)
}
