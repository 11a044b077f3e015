// Package bots turns text into agents. Parse takes a Text, which says who wrote it: the user of this program, who may
// name programs and files, or somebody else, who may not.
//
//	hand:ply=1            an agent of this program: a name, and options after a colon, separated by commas
//	exec:COMMAND          a program that speaks the protocol of the game's contest; a shell runs a command with
//	                      characters that are special to it
//	./bot --fast          the same, if it is a command that exists and not the name of an agent
//	bot.zip, bot.py, bot/ sources: an archive, a file or a folder, which package contest/compile compiles
//	mine.py:make          a policy of Python, where the Python package started this program: a function of a file,
//	                      policy(obs, mask), or one that returns it
//	policy:FILE           the same; also a model of Stable-Baselines3 (.zip) or ONNX (.onnx)
//	human                 a person, in agents play
//	NAME=AGENT            any of these under a name of your own, which tables, records and pages show
//
// A NAME is letters, digits and _ . + - without a blank, and ends at the first equals sign. So hand:ply=1 and
// exec:A=1 ./bot have none; write exec: before a command that begins with a variable, ./ before a file with =.
//
// The agents of this program are those that the entry of a game lists (package entry), and two that play every game:
//
//	random                      a legal action, all equally likely
//	first                       the legal action with the lowest id
//	hand                        a search with the game's hand-tuned baseline
//	learned                     a search with the game's value network
//	terms6, greedy, …           a search with another evaluator of the game
//	combo                       Block Battle: clears rows round after round
//	tspin                       Block Battle: builds places for T-spins
//	quad                        Block Battle: keeps one column open for clears of four rows
//	skipper                     Block Battle: plays a skip as soon as it has one
//	digger                      Block Battle: keeps its board low and clean and hardly attacks
//	dt10, dt20, dellacherie     WinTetris: the policies that the literature on Tetris compares with; one piece is known
//	left                        Dropblox: moves every block as far to the left as it goes
//
// Every agent but random and first takes the option eps, such as eps=0.3: the probability, above 0 and up to 1, that it
// plays a legal action at random instead, all equally likely. That makes weaker opponents of strong ones. Every search
// takes the option weights, a file instead of the shipped or tuned weights. The other options depend on the search:
//
//	                  option  meaning
//	package search    ply     choices to look ahead: 1, 2 (the default), 3 or 4; up to 6, or with
//	                          time up to 16, in turn-based games of two seats; 1 or 2 in those of more
//	                  width   positions that a selective ply expands, 12 by default
//	                  time    limit for one choice, such as 50ms; by default none
//	blockbattle       nodes   positions to evaluate for one choice, 3 to 5 plies deep, in place of
//	                          ply and width
//	                  guard   1: no first action that the opponent's strongest attack answers at
//	                          once, if there is another; with 2 plies or more
//	wintetris:tick    parts   ticks over which the search is split, 4 by default
//	dropblox          width   boards kept after every block, 50 by default
//	                  depth   how many of the six known blocks are searched, by default all
//	                  time    limit for one choice, instead of a width: as wide as fits
package bots

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/bots/blockingbot"
	"blockyard/agents/bots/dropbloxbot"
	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/bots/tetrisduelbot"
	"blockyard/agents/bots/wintetrisbot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/vec"
)

// All has the entry of every game of this repository, once for all variants of the game.
var All = []*entry.Entry{
	blockbattlebot.Entry,
	tetrisduelbot.Entry,
	blockingbot.Entry,
	wintetrisbot.Entry,
	dropbloxbot.Entry,
}

// Of returns the entry of g. A game without one has an empty entry.
func Of(g *env.Game) *entry.Entry {
	name := entry.Base(g)
	if i := slices.IndexFunc(All, func(e *entry.Entry) bool { return e.Game == name }); i >= 0 {
		return All[i]
	}
	return &entry.Entry{Game: name}
}

// Features returns the features that networks for g read, or nil if the game has none.
func Features(g *env.Game) *features.Set { return Of(g).FeaturesOf(g) }

// Names lists the agents of g that Parse knows by name, those of every game first.
func Names(g *env.Game) []string { return append([]string{"random", "first"}, Of(g).Names()...) }

// searchOf returns the search of a game: its own, or those of package search.
func searchOf(e *entry.Entry) *entry.Search {
	if e.Search != nil {
		return e.Search
	}
	known := []entry.Option{{Name: "ply", Max: search.MaxPly}, {Name: "width", Max: 10000}, entry.Time}
	if e.Outcomes > 0 {
		known = append(known, entry.Option{Name: "nodes", Max: 1e9})
	}
	if e.Guard != nil {
		known = append(known, entry.Option{Name: "guard", Max: 1})
	}
	options := func(o entry.Options) search.Options {
		s := search.Options{
			Ply: o.Numbers["ply"], Width: o.Numbers["width"], Nodes: o.Numbers["nodes"], Outcomes: e.Outcomes,
		}
		if o.Numbers["guard"] > 0 {
			s.Guard = e.Guard()
		}
		return s
	}
	return &entry.Search{
		Options: known,
		New: func(g *env.Game, j entry.Evaluator, o entry.Options) (env.Agent, error) {
			return search.New(g, j.(search.Evaluator), options(o))
		},
		Memory: func(g *env.Game, o entry.Options) int64 { return searchMemory(g, options(o)) },
		Ranker: func(g *env.Game, j entry.Evaluator, o entry.Options) (entry.Ranker, error) {
			if o.Time > 0 {
				return nil, errors.New("option time: an analysis takes as long as it takes; want ply or width")
			}
			if o.Numbers["nodes"] > 0 {
				return nil, errors.New("option nodes: an analysis searches to a depth; want ply or width")
			}
			return newRanking(g, j.(search.Evaluator), options(o))
		},
	}
}

// searcher returns agents of a search. Unless the search is stateful, its agents share a pool.
func searcher(g *env.Game, s *entry.Search, evaluator maker, o entry.Options) (Factory, error) {
	create := func() (env.Agent, error) {
		j, err := evaluator()
		if err != nil {
			return nil, err
		}
		return s.New(g, j, o)
	}
	first, err := create() // so that bad options are found here
	if err != nil {
		return nil, err
	}
	if s.Stateful {
		return withEpsilon(func(uint64) (env.Agent, error) { return create() }, o.Eps), nil
	}
	p := &pool{create: create}
	p.idle.Put(first)
	return withEpsilon(func(uint64) (env.Agent, error) { return &pooledAgent{pool: p, limit: o.Time}, nil }, o.Eps), nil
}

// A pool holds searches that are not choosing at the moment. A search carries nothing over from one choice to the next,
// so a thousand games need no more searches, each with its memory, than the cores that play them.
type pool struct {
	create func() (env.Agent, error)
	idle   sync.Pool // of env.Agent
}

// A pooledAgent takes a search from a pool for each choice.
type pooledAgent struct {
	pool  *pool
	limit time.Duration // for one choice; 0 for none
	value float32
}

func (a *pooledAgent) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	inner, idle := a.pool.idle.Get().(env.Agent)
	if !idle {
		var err error
		if inner, err = a.pool.create(); err != nil {
			return env.None, err
		}
	}
	defer a.pool.idle.Put(inner)
	if a.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.limit)
		defer cancel()
	}
	action, err := inner.Act(ctx, s, seat)
	if r, ok := inner.(search.Reporter); ok {
		a.value = r.Value()
	}
	return action, err
}

func (a *pooledAgent) Value() float32 { return a.value }

// A pooledAgent can go on elsewhere: it is a vec.Resumable without a memory, because its searches carry
// nothing over from one choice to the next.

// AppendMemory appends nothing. It returns an error if the agent has a time limit.
func (a *pooledAgent) AppendMemory(dst []byte) ([]byte, error) {
	if a.limit > 0 {
		return dst, fmt.Errorf("its choices depend on the clock (time=%v), so no other run can repeat them: "+
			"limit its search by an option such as ply or width instead", a.limit)
	}
	return dst, nil
}

func (a *pooledAgent) RestoreMemory(src []byte) error {
	if len(src) != 0 {
		return fmt.Errorf("a search with a memory of %d bytes, want none", len(src))
	}
	return nil
}

// An epsilonGreedy agent plays a random legal action now and then, and otherwise as another agent: the option eps.
type epsilonGreedy struct {
	env.Agent
	eps    float64
	chance env.Rand
	random *search.Random
}

// withEpsilon returns agents that play a random legal action with probability eps; for 0, those of f.
func withEpsilon(f Factory, eps float64) Factory {
	if eps == 0 {
		return f
	}
	return func(seed uint64) (env.Agent, error) {
		inner, err := f(seed)
		w := &epsilonGreedy{Agent: inner, eps: eps, random: search.NewRandom(env.Derive(seed, 0))}
		w.chance.Seed(env.Derive(seed, 1))
		return w, err
	}
}

func (w *epsilonGreedy) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	const scale = 1 << 53 // what a float64 holds exactly
	if float64(w.chance.Next()>>11) < w.eps*scale {
		return w.random.Act(ctx, s, seat)
	}
	return w.Agent.Act(ctx, s, seat)
}

// Value implements search.Reporter. It is that of the last action that was not random.
func (w *epsilonGreedy) Value() float32 {
	if r, ok := w.Agent.(search.Reporter); ok {
		return r.Value()
	}
	return 0
}

// AppendMemory implements vec.Resumable: both generators, and then the memory of the other agent.
func (w *epsilonGreedy) AppendMemory(dst []byte) ([]byte, error) {
	inner, ok := w.Agent.(vec.Resumable)
	if !ok {
		return dst, errors.New("the agent has no memory that could be written")
	}
	dst = binary.LittleEndian.AppendUint64(dst, w.chance.Word)
	dst, err := w.random.AppendMemory(dst)
	if err != nil {
		return dst, err
	}
	return inner.AppendMemory(dst)
}

func (w *epsilonGreedy) RestoreMemory(src []byte) error {
	inner, ok := w.Agent.(vec.Resumable)
	if !ok || len(src) < 16 {
		return fmt.Errorf("an agent with eps: memory of %d bytes, want 16 and those of the agent itself", len(src))
	}
	w.chance.Seed(binary.LittleEndian.Uint64(src))
	return errors.Join(w.random.RestoreMemory(src[8:16]), inner.RestoreMemory(src[16:]))
}
