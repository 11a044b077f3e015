package batch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/checkpoint"
	"blockyard/rpc/wire"
)

// Opponents are what plays the seats of a batch that the client does not play. Each spec has a number, its index in
// known, which it keeps as long as the batch is open: results of games against it may be reported much later than it
// left the mixtures.
type Opponents struct {
	b          *Batch
	known      []opponent
	numbers    map[string]int  // of specs
	mixtures   []vec.Mixture   // by seat
	curriculum *vec.Curriculum // over all of them; nil for none
	memory     int64           // of all opponents
	search     int64           // part of it: the searches that choose at the same time
	workers    int             // how many choose at the same time
	agents     int             // of all games together
}

type opponent struct {
	spec    string
	asked   bool             // the client plays it
	own     bool             // the client itself has named it
	factory vec.AgentFactory // nil unless it is loaded
	weights Weights          // that it was loaded from
	memory  int64            // that was loaded, besides entryMemory
	search  int64            // of those that choose at the same time
}

// loaded reports whether it can play.
func (o *opponent) loaded() bool { return o.asked || o.factory != nil }

// name is its name in records.
func (o *opponent) name() string { return strings.TrimPrefix(o.spec, Client) }

// A Choice is one opponent of a seat, and how often it plays there.
type Choice struct {
	Spec   string
	Weight float64
}

func newOpponents(b *Batch, c *vec.Config, o *Options) (*Opponents, error) {
	l := &Opponents{b: b, numbers: map[string]int{}, mixtures: make([]vec.Mixture, c.Seats),
		workers: workers(c), agents: c.Envs * len(o.Seats)}
	return l.with("open", o.Seats, o.Curriculum)
}

// with returns a copy of l in which these seats have new mixtures, or rungs, and accounts for what it needs more.
func (l *Opponents) with(method string, seats map[int][]Choice, curriculum *vec.Curriculum) (_ *Opponents, err error) {
	n := *l
	n.curriculum = curriculum
	n.known, n.numbers, n.mixtures = slices.Clone(l.known), maps.Clone(l.numbers), slices.Clone(l.mixtures)
	before := l.b.tab.Memory()
	defer func() {
		if err != nil {
			l.b.tab.Back(before)
		}
	}()
	for _, seat := range slices.Sorted(maps.Keys(seats)) {
		if seat < 0 || seat >= len(n.mixtures) {
			return nil, badParams("%s: opponents names seat %d, want 0 to %d", method, seat, len(n.mixtures)-1)
		}
		mixture := make(vec.Mixture, len(seats[seat]))
		for k, c := range seats[seat] {
			id, err := n.load(c.Spec, true)
			if err != nil {
				return nil, refused(fmt.Sprintf("%s: opponents[%d], entry %d", method, seat, k+1), err)
			}
			mixture[k] = vec.Choice{Agent: n.known[id].factory, Weight: c.Weight, ID: uint16(id)}
		}
		if err := mixture.Check(); err != nil {
			return nil, badParams("%s: opponents[%d]: %v", method, seat, err)
		}
		n.mixtures[seat] = mixture
	}
	for seat, m := range n.mixtures { // the others have rungs, not a mixture
		if _, given := seats[seat]; len(m) > 0 && !given && (n.curriculum != nil || l.curriculum != nil) {
			return nil, badParams("%s: a curriculum is for all seats together: name opponents of seat %d, too", method, seat)
		}
	}
	return &n, nil
}

// load returns the number of a spec, and loads it unless it is loaded. own says that the client names it now.
func (l *Opponents) load(spec string, own bool) (int, error) {
	id, ok := l.numbers[spec]
	own = own || ok && l.known[id].own
	if ok && l.known[id].loaded() {
		return id, nil
	}
	if !ok && len(l.known) == checkpoint.MostOpponents {
		return 0, wire.Exceeds("opponents of a handle", checkpoint.MostOpponents, checkpoint.MostOpponents+1, "")
	}
	if name, asked := strings.CutPrefix(spec, Client); asked && !ok {
		if !Printable(name) {
			return 0, badParams("its name is %.40q, want 1 to %d bytes of text", name, MostName)
		}
		if err := l.b.tab.Add(entryMemory(spec)); err != nil {
			return 0, err
		}
		l.memory += entryMemory(spec)
		return l.add(opponent{spec: spec, own: own, asked: true}), nil
	}
	m, err := l.b.agents.memory(l.b.Game, spec, own)
	if err != nil {
		return 0, err
	}
	one := opponent{spec: spec, own: own, memory: m.Spec + beyond(m, l.agents), search: m.Search * int64(l.workers)}
	need := one.memory + max(0, one.search-l.search)
	if !ok {
		need += entryMemory(spec)
	}
	if one.factory, one.weights, err = l.b.agents.load(l.b.tab, l.b.Game, spec, own, need); err != nil {
		return 0, err
	}
	if !ok {
		id = l.add(one)
	}
	loaded := one.weights.memory()
	one.memory += loaded
	l.known[id] = one
	l.search = max(l.search, one.search)
	l.memory += need + loaded
	return id, nil
}

// add gives a new opponent its number.
func (l *Opponents) add(o opponent) int {
	l.numbers[o.spec] = len(l.known)
	l.known = append(l.known, o)
	return len(l.known) - 1
}

// entryMemory is the estimated size of an opponent that is known but not loaded.
func entryMemory(spec string) int64 { return 128 + int64(len(spec)) }

// retire unloads the opponents that no mixture has and that play in no game.
func (l *Opponents) retire() {
	used := make([]bool, len(l.known))
	l.used(func(id uint16) { used[id] = true })
	before := l.memory
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
	_ = l.b.tab.Add(l.memory - before) // less never fails
}

// Known is how many opponents the batch has had.
func (l *Opponents) Known() int { return len(l.known) }

// Specs lists the specs from a number on.
func (l *Opponents) Specs(first int) []string {
	list := []string{}
	for _, o := range l.known[first:] {
		list = append(list, o.spec)
	}
	return list
}

// fit returns an error if Specs does not fit into a response.
func (l *Opponents) fit(first int) error {
	size := 0
	for _, o := range l.known[first:] {
		size += 5 + len(o.spec)
	}
	return l.b.tab.Fits(size)
}

// SetOpponents replaces opponents of some seats, or changes nothing. A curriculum, nil for none, is over those of all
// seats. It returns the number of the first new spec.
func (b *Batch) SetOpponents(seats map[int][]Choice, curriculum *vec.Curriculum) (first int, err error) {
	for seat := range seats {
		if seat >= 0 && b.Env.Driven().Has(seat) && seat < b.Config.Seats {
			return 0, badParams(
				"set_opponents: seat %d is played by the client, want seats that open gave opponents", seat)
		}
	}
	before := b.tab.Memory()
	next, err := b.Opponents.with("set_opponents", seats, curriculum)
	if err != nil {
		return 0, err
	}
	first = len(b.Opponents.known)
	if b.Log {
		err = next.repeatable("set_opponents")
	}
	if err == nil {
		err = next.fit(first)
	}
	if err == nil {
		err = refused("set_opponents", b.Env.SetMixtures(next.mixtures, next.curriculum))
	}
	if err != nil {
		b.tab.Back(before)
		return 0, err
	}
	next.retire()
	b.Opponents = next
	return first, nil
}

// Tallies returns the results of the finished episodes against every opponent, by number.
func (b *Batch) Tallies() []vec.Tally {
	tallies := make([]vec.Tally, len(b.Opponents.known)) // also of those that only a checkpoint knew
	copy(tallies, b.Env.Tallies())
	return tallies
}

// repeatable returns an error unless the agents of all mixtures can go on elsewhere exactly as here.
func (l *Opponents) repeatable(method string) error {
	for seat, m := range l.mixtures {
		for _, c := range m {
			if c.Agent == nil {
				continue // the log has its answers
			}
			if err := repeatable(c.Agent); err != nil {
				return badParams("%s: log: the opponent %.80q of seat %d cannot be replayed elsewhere: %v",
					method, l.known[c.ID].spec, seat, err)
			}
		}
	}
	return nil
}

// repeatable returns an error unless an agent can go on elsewhere exactly as here.
func repeatable(factory vec.AgentFactory) error {
	a, err := factory(0)
	if err != nil {
		return err
	}
	_, err = vec.Memory(a)
	return errors.Join(err, vec.CloseAgents([]env.Agent{a}))
}

// weighted returns the mixtures as a checkpoint has them, by seat.
func (l *Opponents) weighted() [][]checkpoint.Weighted {
	all := make([][]checkpoint.Weighted, len(l.mixtures))
	for seat, m := range l.mixtures {
		all[seat] = []checkpoint.Weighted{}
		for _, c := range m {
			all[seat] = append(all[seat], checkpoint.Weighted{Number: c.ID, Weight: c.Weight})
		}
	}
	return all
}

// Players returns who plays each seat in game i's episode: opponents, and these names of the others.
func (b *Batch) Players(i int, driven []string) []string {
	names := make([]string, b.Config.Seats)
	for seat := range names {
		if names[seat] = driven[seat]; !b.Env.Driven().Has(seat) {
			names[seat] = b.Opponents.known[b.Env.Opponent(i, seat)].name()
		}
	}
	return names
}

// badCheckpoint is the error for a checkpoint that does not fit; game is the place in it, -1 for all together.
func badCheckpoint(game int, err error) error {
	if game < 0 {
		return wire.Errorf(wire.BadState, "resume: the checkpoint does not fit: %v", err).With("index", 0)
	}
	return wire.Errorf(wire.BadState, "resume: game %d of the checkpoint: %v", game, err).With("index", game)
}

// revive returns the opponents of the head of a checkpoint, of which those are loaded that b has loaded, and no
// mixtures. more is the memory of those that b does not know, which the caller accounts for.
func (b *Batch) revive(head *checkpoint.Head) (l *Opponents, more int64) {
	old := b.Opponents
	l = &Opponents{b: b, known: make([]opponent, len(head.Opponents)), numbers: map[string]int{},
		mixtures: make([]vec.Mixture, head.Seats), curriculum: head.Curriculum, memory: old.search, search: old.search,
		workers: old.workers, agents: old.agents}
	for id, spec := range head.Opponents {
		l.known[id] = opponent{spec: spec, asked: strings.HasPrefix(spec, Client)}
		l.numbers[spec] = id
		if at, ok := old.numbers[spec]; ok {
			l.known[id] = old.known[at]
			l.memory += l.known[id].memory + entryMemory(spec)
		} else {
			more += entryMemory(spec)
		}
	}
	return l, more
}

// fill gives l the mixtures of the head, and loads the opponents that they have or that used has.
func (l *Opponents) fill(head *checkpoint.Head, used map[uint16]bool) error {
	for seat, m := range head.Mixtures {
		for _, c := range m {
			if err := l.ready(c.Number); err != nil {
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
		if err := l.ready(id); err != nil {
			return err
		}
	}
	return nil
}

// ready loads an opponent, unless it is loaded.
func (l *Opponents) ready(number uint16) error {
	_, err := l.load(l.known[number].spec, false)
	return refused("resume", err)
}
