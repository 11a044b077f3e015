package batch

import (
	"errors"
	"fmt"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/checkpoint"
	"blockyard/rpc/session/limits"
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

// text is a spec that the client has written, or of a checkpoint, which never names files and programs.
func (a *Agents) text(spec string, own bool, uploads entry.Reader) bots.Text {
	if own && a.Trusted {
		return bots.Own(spec).With(uploads)
	}
	return bots.Foreign(spec, uploads)
}

// Create parses a spec, own if the client has written it, which may name these weights, and returns those it loads.
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

// badParams is the error for a request whose params are wrong.
func badParams(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.BadParams, format, args...)
}

// refused is an error that names what could not be loaded, unless it is one for clients already.
func refused(what string, err error) error {
	if known := (*wire.Error)(nil); err == nil || errors.As(err, &known) {
		return err
	}
	return badParams("%s: %v", what, err)
}

// accountAgents accounts for n bytes that the agents of a spec take. Its error names the spec.
func accountAgents(tab *limits.Tab, spec string, n int64) error {
	err := tab.Add(n)
	if refused, ok := errors.AsType[*wire.Error](err); ok {
		refused.Msg = fmt.Sprintf("the agents of %.80q take %d bytes: %s", spec, n, refused.Msg)
		return refused.With("spec", spec)
	}
	return err
}

// beyond is what so many agents take more than each batch counts for its agents.
func beyond(m entry.Memory, agents int) int64 {
	return int64(agents) * max(0, m.Agent-agentMemory)
}

// A Policy plays the driven seats of a batch in rollouts. It has an agent for each seat of each game
// and keeps it from rollout to rollout, so that one long rollout equals several short ones.
type Policy struct {
	text    string // the spec that the client sent
	factory vec.AgentFactory
	weights Weights // that it was loaded from
	b       *Batch
	memory  int64                // counted towards the limit
	agents  []env.Agent          // [games, seats]
	episode []checkpoint.Episode // of each agent
	views   []env.State          // by worker
	errs    []error              // by worker
}

// Streams of a game's seed for policies, distinct from those of package vec.
const (
	policyAgents = 1 << 61
	policyViews  = 1 << 60
)

// Random is the policy that needs no agents.
const Random = "random"

// SetPolicy makes the policy with a spec play rollouts; Random ones are of random legal actions.
func (b *Batch) SetPolicy(text string) (*Policy, error) {
	switch {
	case text == Random:
		return nil, nil
	case b.Policy != nil && b.Policy.text == text:
		return b.Policy, nil
	}
	m, err := b.agents.memory(b.Game, text, true)
	if err != nil {
		return nil, refused("rollout: policy", err)
	}
	if err := b.dropPolicy(); err != nil {
		return nil, err
	}
	before := b.tab.Memory()
	factory, weights, err := b.agents.load(b.tab, b.Game, text, true, b.policyMemory(m))
	if err != nil {
		return nil, refused("rollout: policy", err)
	}
	if b.Log {
		if err := repeatable(factory); err != nil {
			b.tab.Back(before)
			return nil, badParams("rollout: log: the policy %.80q cannot be replayed elsewhere: %v", text, err)
		}
	}
	seats := b.Config.Envs * b.Config.Seats
	b.Policy = &Policy{text: text, factory: factory, weights: weights, b: b, memory: b.tab.Memory() - before,
		agents: make([]env.Agent, seats), episode: make([]checkpoint.Episode, seats),
		errs: make([]error, b.Config.Workers)}
	for range b.Config.Workers {
		b.Policy.views = append(b.Policy.views, b.Game.New(b.Config.Seats))
	}
	return b.Policy, nil
}

// policyMemory is what agents for all driven seats take, without the weights that they are loaded from.
func (b *Batch) policyMemory(m entry.Memory) int64 {
	agents := b.Config.Envs * b.Env.Driven().Len()
	return m.Spec + int64(min(b.Config.Workers, b.Config.Envs))*m.Search + int64(agents)*agentMemory + beyond(m, agents)
}

// dropPolicy closes the agents of the policy, if there is one.
func (b *Batch) dropPolicy() error {
	p := b.Policy
	if p == nil {
		return nil
	}
	b.Policy = nil
	_ = b.tab.Add(-p.memory)
	return vec.CloseAgents(p.agents)
}

// Play plays one step of a rollout into at and restarts the games that ended. A nil p plays random legal actions.
func (b *Batch) Play(p *Policy, at *Place) error {
	if b.ctx.Err() != nil {
		return wire.Errorf(wire.Draining, "the session ended during the rollout")
	}
	err := b.renew(at)
	switch {
	case err != nil:
	case p == nil:
		err = b.Env.Sample(b.Actions)
	default: // if an agent fails or the session ends, no game is stepped
		clear(p.errs)
		if err = b.Env.Each(p.game); err == nil {
			err = errors.Join(p.errs...)
		}
	}
	if err != nil {
		return err
	}
	return b.Step(at)
}

// renew resets ended games if autoreset is Disabled.
func (b *Batch) renew(at *Place) error {
	if b.Config.Autoreset != vec.Disabled {
		return nil
	}
	var mask []bool
	for i := range b.Config.Envs {
		if b.Env.Ended(i) {
			if mask == nil {
				mask = make([]bool, b.Config.Envs)
			}
			mask[i] = true
		}
	}
	if mask == nil {
		return nil
	}
	return b.reset(vec.Seeds{}, mask, at)
}

// game chooses the actions of all rows of game i.
func (p *Policy) game(worker, i int) {
	b := p.b
	rows := b.Env.Rows()
	for r := range rows {
		b.Actions[i*rows+r] = 0 // ignored
		seat := b.Env.Seat(i, r)
		if seat == vec.NoSeat || b.Env.Ended(i) || p.errs[worker] != nil {
			continue
		}
		a, err := p.act(worker, i, seat)
		if err != nil {
			p.errs[worker] = wire.Errorf(wire.Opponent, "rollout: game %d, seat %d: %v", i, seat, err)
		}
		b.Actions[i*rows+r] = a
	}
}

func (p *Policy) act(worker, i, seat int) (env.Action, error) {
	seed, episode := p.b.Env.Seed(i)
	stream := func(kind uint64) uint64 { return env.Derive(env.Derive(seed, kind+episode), uint64(seat)) }
	k := i*p.b.Config.Seats + seat
	at, agent := &p.episode[k], &p.agents[k]
	if *agent == nil || seed != at.Seed || episode != at.Episode {
		if err := vec.Renew(agent, p.factory, stream(policyAgents)); err != nil {
			return env.None, err
		}
		*at = checkpoint.Episode{Seed: seed, Episode: episode}
	}
	at.Decisions++
	env.View(p.views[worker], p.b.Env.State(i), seat, env.Derive(stream(policyViews), at.Decisions))
	a, err := (*agent).Act(p.b.ctx, p.views[worker], seat)
	if err == nil {
		err = p.b.ctx.Err() // an action found after the end is not the agent's best
	}
	return a, err
}

// take replaces the agents of game i.
func (p *Policy) take(i int, agents []env.Agent, saved []checkpoint.Agent) error {
	first := i * p.b.Config.Seats
	err := vec.CloseAgents(p.agents[first : first+p.b.Config.Seats])
	copy(p.agents[first:], agents)
	for _, s := range saved {
		p.episode[first+s.Seat] = s.At
	}
	return err
}
