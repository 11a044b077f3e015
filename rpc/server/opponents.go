package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/checkpoint"
	"blockyard/rpc/wire"
)

// Bounds on opponents.
const (
	agentMemory = 16 << 10 // estimated bytes of one agent of the server
	specMemory  = 32 << 10 // estimated bytes of a loaded spec without its weights
)

// A lineup is the opponents of a handle. Each spec has a number, its index in known, which it keeps as long
// as the handle is open: results of games against it may be reported much later than it left the mixtures.
type lineup struct {
	known    []opponent
	numbers  map[string]int // of specs
	mixtures []vec.Mixture  // by seat
	memory   int64          // of all opponents
	search   int64          // part of it: the searches that choose at the same time
	workers  int            // how many choose at the same time
	agents   int            // of all games together
}

type opponent struct {
	spec    string
	own     bool             // the client itself has named it
	factory vec.AgentFactory // nil unless it is loaded
	weights weights          // that it was loaded from
	memory  int64            // that was loaded, besides entryMemory
	search  int64            // of those that choose at the same time
}

// readMixture reads what a client says about one seat: a spec, or an array of [spec, weight] pairs.
// where names the seat in errors.
func readMixture(where string, v any) (specs []string, weights []float64, err error) {
	if spec, ok := v.(string); ok {
		v = []any{[]any{spec, 1}}
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		return nil, nil, wire.Errorf(wire.BadParams, "%s is %T, want a spec or an array of [spec, weight]", where, v)
	case len(list) == 0:
		return nil, nil, wire.Errorf(wire.BadParams, "%s is an empty mixture, want at least one opponent", where)
	case len(list) > checkpoint.MostChoices:
		refused := wire.Exceeds("opponents of a seat", checkpoint.MostChoices, int64(len(list)), "")
		refused.Msg = where + ": " + refused.Msg
		return nil, nil, refused
	}
	for k, v := range list {
		pair, _ := v.([]any)
		if len(pair) != 2 {
			return nil, nil, wire.Errorf(wire.BadParams, "%s, entry %d: want [spec, weight]", where, k+1)
		}
		spec, ok := pair[0].(string)
		weight, isNumber := number(pair[1])
		switch {
		case !ok || len(spec) > checkpoint.MostSpec:
			return nil, nil, wire.Errorf(wire.BadParams, "%s, entry %d: the spec is not a string of at most %d bytes",
				where, k+1, checkpoint.MostSpec)
		case !isNumber:
			return nil, nil, wire.Errorf(wire.BadParams, "%s, entry %d, %.64q: the weight is not a number", where, k+1, spec)
		}
		specs, weights = append(specs, spec), append(weights, weight)
	}
	return specs, weights, nil
}

// number converts a decoded integer or float.
func number(v any) (float64, bool) {
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}

// change returns a copy of l in which the seats that opponents names have new mixtures. What the copy needs
// more memory than l is accounted for.
func (s *session) change(method string, g *env.Game, l *lineup, opponents map[int64]any) (_ *lineup, err error) {
	n := &lineup{known: slices.Clone(l.known), numbers: maps.Clone(l.numbers), mixtures: slices.Clone(l.mixtures),
		memory: l.memory, search: l.search, workers: l.workers, agents: l.agents}
	defer func() {
		if err != nil {
			s.account(0, 0, l.memory-n.memory)
		}
	}()
	for _, seat := range slices.Sorted(maps.Keys(opponents)) {
		if seat < 0 || seat >= int64(len(n.mixtures)) {
			return nil, wire.Errorf(wire.BadParams, "%s: opponents names seat %d, want 0 to %d", method, seat, len(n.mixtures)-1)
		}
		where := fmt.Sprintf("%s: opponents[%d]", method, seat)
		specs, weights, err := readMixture(where, opponents[seat])
		if err != nil {
			return nil, err
		}
		mixture := make(vec.Mixture, len(specs))
		for k, spec := range specs {
			id, err := n.load(s, g, spec, true)
			if refused := (*wire.Error)(nil); err != nil && !errors.As(err, &refused) {
				err = wire.Errorf(wire.BadParams, "%s, entry %d: %v", where, k+1, err)
			}
			if err != nil {
				return nil, err
			}
			mixture[k] = vec.Choice{Agent: n.known[id].factory, Weight: weights[k], ID: uint16(id)}
		}
		if err := mixture.Check(); err != nil {
			return nil, wire.Errorf(wire.BadParams, "%s: %v", where, err)
		}
		n.mixtures[seat] = mixture
	}
	return n, nil
}

// load returns the number of a spec, whose opponent it loads unless it is loaded. own says that the client itself names
// it now.
func (l *lineup) load(s *session, g *env.Game, spec string, own bool) (int, error) {
	id, ok := l.numbers[spec]
	own = own || ok && l.known[id].own
	if ok && l.known[id].factory != nil {
		return id, nil
	}
	if !ok && len(l.known) == checkpoint.MostOpponents {
		return 0, wire.Exceeds("opponents of a handle", checkpoint.MostOpponents, checkpoint.MostOpponents+1, "")
	}
	m, err := s.agentsMemory(g, spec, own)
	if err != nil {
		return 0, err
	}
	one := opponent{spec: spec, own: own, memory: m.Spec + beyond(m, l.agents), search: m.Search * int64(l.workers)}
	before := one.memory + max(0, one.search-l.search)
	if err := s.accountAgents(spec, before); err != nil {
		return 0, err
	}
	one.factory, one.weights, err = s.agent(g, spec, own)
	more := one.weights.memory()
	one.memory += more
	if !ok {
		more += entryMemory(spec)
	}
	if err == nil {
		err = s.accountAgents(spec, more)
	}
	if err != nil {
		s.account(0, 0, -before)
		return 0, err
	}
	if !ok {
		id = len(l.known)
		l.numbers[spec] = id
		l.known = append(l.known, opponent{})
	}
	l.known[id] = one
	l.search = max(l.search, one.search)
	l.memory += before + more
	return id, nil
}

// entryMemory is the estimated size of an opponent that is known but not loaded.
func entryMemory(spec string) int64 { return 128 + int64(len(spec)) }

// retire unloads the opponents that no mixture has and that play in no game of e.
func (l *lineup) retire(e *vec.Env) {
	used := make([]bool, len(l.known))
	for _, m := range l.mixtures {
		for _, c := range m {
			used[c.ID] = true
		}
	}
	for i := range e.Config().Envs {
		for seat := range l.mixtures {
			if id := e.Opponent(i, seat); id != vec.NoOpponent {
				used[id] = true
			}
		}
	}
	l.memory -= l.search
	l.search = 0
	for id := range l.known {
		o := &l.known[id]
		if !used[id] {
			l.memory -= o.memory
			o.factory, o.weights, o.memory, o.search = nil, nil, 0, 0
		}
		l.search = max(l.search, o.search)
	}
	l.memory += l.search
}

// specs lists the specs from a number on.
func (l *lineup) specs(first int) []string {
	list := []string{}
	for _, o := range l.known[first:] {
		list = append(list, o.spec)
	}
	return list
}

// listed is how many bytes of a response specs takes.
func (l *lineup) listed(first int) int {
	size := replyRoom
	for _, o := range l.known[first:] {
		size += 5 + len(o.spec)
	}
	return size
}

// opponentsOf returns the opponents of a new handle.
func (s *session) opponentsOf(g *env.Game, c *vec.Config, opponents map[int64]any) (*lineup, error) {
	seats := c.Seats
	if n := len(opponents); n >= seats {
		return nil, wire.Errorf(wire.BadParams, "open: opponents has %d of %d seats: leave at least one to the client",
			n, seats)
	}
	return s.change("open", g, &lineup{numbers: map[string]int{}, mixtures: make([]vec.Mixture, seats),
		workers: s.srv.workers(c), agents: c.Envs * len(opponents)}, opponents)
}

// setOpponents replaces the mixtures of some seats that the server plays, or changes nothing.
func (s *session) setOpponents(f *wire.Frame, h *handle) error {
	opponents := map[int64]any{}
	if err := f.Options(1, &opponents); err != nil {
		return err
	}
	if len(opponents) == 0 {
		return wire.Errorf(wire.BadParams, "set_opponents: no seat is named, want at least one")
	}
	for seat := range opponents {
		if seat >= 0 && h.env.Driven().Has(int(seat)) && seat < int64(h.c.Seats) {
			return wire.Errorf(wire.BadParams,
				"set_opponents: seat %d is played by the client, want seats that open gave opponents", seat)
		}
	}
	next, err := s.change("set_opponents", h.game, h.opponents, opponents)
	if err != nil {
		return err
	}
	first := len(h.opponents.known)
	if h.logs {
		err = next.repeatable("set_opponents")
	}
	if size := next.listed(first); err == nil && size > s.srv.limits.MaxReply {
		err = s.srv.ledger.ExceedsReply(size)
	}
	if err == nil {
		err = h.env.SetMixtures(next.mixtures)
	}
	if err != nil {
		s.account(0, 0, h.opponents.memory-next.memory)
		return err
	}
	loaded := next.memory
	next.retire(h.env)
	s.account(0, 0, next.memory-loaded)
	h.memory += next.memory - h.opponents.memory
	h.opponents = next
	return s.reply(f.ID, wire.Fields{"first", first, "opponents", next.specs(first)})
}

// opponentStats replies with the results of the finished episodes against every opponent, by number.
func (s *session) opponentStats(f *wire.Frame, h *handle) error {
	var o struct {
		Reset bool `msgpack:"reset"`
	}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	if size := 4*8*len(h.opponents.known) + replyRoom; size > s.srv.limits.MaxReply {
		return s.srv.ledger.ExceedsReply(size)
	}
	var wins, draws, losses, truncated []byte
	tallies := h.env.Tallies(nil, o.Reset)
	for len(tallies) < len(h.opponents.known) { // those that a checkpoint knew and no mixture has had since
		tallies = append(tallies, vec.Tally{})
	}
	for _, t := range tallies {
		wins = binary.LittleEndian.AppendUint64(wins, t.Wins)
		draws = binary.LittleEndian.AppendUint64(draws, t.Draws)
		losses = binary.LittleEndian.AppendUint64(losses, t.Losses)
		truncated = binary.LittleEndian.AppendUint64(truncated, t.Truncated)
	}
	return s.reply(f.ID, wire.Fields{"count", len(tallies), "wins", wins, "draws", draws, "losses", losses,
		"truncated", truncated})
}
