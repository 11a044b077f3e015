package batch

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/checkpoint"
	"blockyard/rpc/session/recorder"
	"blockyard/rpc/wire"
)

// A state on the wire is a head of stateHead bytes, then a snapshot of vec.Env:
//
//	0  4  "BYS" and the version of this format
//	4  8  FNV-1a of the game's name, rules version and number of seats
//	12 4  steps of the episode, which the snapshot holds too: written for readers, not read back
const (
	stateHead    = 16
	stateVersion = 1
)

// StateLen is the length of the state of one game.
func (b *Batch) StateLen() int { return stateHead + b.Env.SnapshotLen() }

// kind identifies the batches that can exchange states.
func (b *Batch) kind() uint64 {
	sum := fnv.New64a()
	text := append([]byte(b.Game.Name), 0)
	text = binary.LittleEndian.AppendUint32(text, uint32(b.Game.Rules))
	text = append(text, byte(b.Config.Seats))
	_, _ = sum.Write(text)
	return sum.Sum64()
}

// States returns the states of games, one after the other.
func (b *Batch) States(list []int) (dst []byte, err error) {
	dst = make([]byte, 0, len(list)*b.StateLen())
	for _, i := range list {
		dst = append(dst, 'B', 'Y', 'S', stateVersion)
		dst = binary.LittleEndian.AppendUint64(dst, b.kind())
		dst = binary.LittleEndian.AppendUint32(dst, uint32(b.Env.Steps(i)))
		if dst, err = b.Env.Snapshot(i, dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// setState restores game i from its part of the bytes that States wrote.
func (b *Batch) setState(i int, state []byte) error {
	switch {
	case string(state[:3]) != "BYS":
		return errors.New("this is no state")
	case state[3] != stateVersion:
		return errors.New("a state of another version of the format")
	case binary.LittleEndian.Uint64(state[4:]) != b.kind():
		return errors.New("a state of another game, rules version or number of seats")
	}
	return b.Env.Restore(i, state[stateHead:])
}

// Restore puts states into games: into all of the list or none.
func (b *Batch) Restore(list []int, states []byte) error {
	if !b.began {
		if err := b.reset(b.seeds, nil, b.Own); err != nil {
			return err
		}
	}
	before, err := b.States(list)
	if err != nil {
		return err
	}
	n := b.StateLen()
	for k, i := range list {
		bad := b.setState(i, states[k*n:(k+1)*n])
		if bad == nil {
			continue
		}
		for k, i := range list[:k] {
			if err := b.setState(i, before[k*n:(k+1)*n]); err != nil {
				return err
			}
		}
		return wire.Errorf(wire.BadState, "restore: state %d: %v", k, bad).With("index", k)
	}
	return nil
}

// Reseed redraws what is hidden in some games. The draws of a game depend on its own number only.
func (b *Batch) Reseed(list []int, seed uint64) error {
	for _, i := range list {
		if err := b.Env.Reseed(i, env.Derive(seed, b.First+uint64(i))); err != nil {
			return err
		}
	}
	return nil
}

// Show writes the positions of all games to p, as after Restore or Resume.
func (b *Batch) Show(p *Place) error {
	b.Ended = b.Ended[:0]
	if err := b.Env.Observe(p.batch); err != nil {
		return err
	}
	return b.finish(p)
}

// AgentRoom is how many bytes of a saved game one seat is expected to need, beside the snapshot.
const AgentRoom = 256

// Saved is a checkpoint of some games.
type Saved struct {
	Count       int // of the games that fit into a response, the first of the list
	Head, Games []byte
	Recordings  []byte   // of these games, see recorder.Recording
	Weights     []string // names of what their agents were loaded from
}

// Save returns a checkpoint of some games, as many as fit into one response, and on request their recordings.
func (b *Batch) Save(list []int, recordings bool) (*Saved, error) {
	if err := b.Opponents.fit(0); err != nil {
		return nil, err
	}
	head, err := json.Marshal(b.head())
	if err != nil {
		return nil, err
	}
	out := &Saved{Head: head}
	need := Weights{}
	for _, m := range b.Opponents.mixtures {
		for _, c := range m {
			maps.Copy(need, b.Opponents.known[c.ID].weights)
		}
	}
	if b.Policy != nil {
		maps.Copy(need, b.Policy.weights)
	}
	for k, i := range list {
		g, err := b.save(i)
		if err != nil {
			return nil, err
		}
		games, lines := g.Append(out.Games, b.kind()), out.Recordings
		if recordings {
			if lines, err = b.Recorder.AppendRecording(lines, i); err != nil {
				return nil, err
			}
		}
		if err := b.tab.Fits(len(games) + len(lines) + len(head)); err != nil {
			if k == 0 {
				return nil, err
			}
			break
		}
		out.Games, out.Recordings = games, lines
		out.Count++
		for _, o := range g.Opponents {
			maps.Copy(need, b.Opponents.known[o.Number].weights)
		}
	}
	out.Weights = append([]string{}, slices.Sorted(maps.Keys(need))...)
	return out, nil
}

// Weights returns uploaded weights that an agent was loaded from, even if dropped since; nil for none.
func (b *Batch) Weights(name string) []byte {
	if b.Policy != nil && b.Policy.weights[name] != nil {
		return b.Policy.weights[name]
	}
	for _, o := range b.Opponents.known {
		if o.weights[name] != nil {
			return o.weights[name]
		}
	}
	return nil
}

// save returns game i with the agents that play in it.
func (b *Batch) save(i int) (*checkpoint.Game, error) {
	g := &checkpoint.Game{Results: slices.Clone(b.Env.TalliesOf(i))}
	var err error
	if g.Snapshot, err = b.Env.Snapshot(i, nil); err != nil {
		return nil, err
	}
	for seat := range b.Config.Seats {
		if at := b.Env.Seated(i, seat); at.Choice.ID != vec.NoOpponent {
			var memory []byte
			if at.Agent != nil {
				who := fmt.Sprintf("the opponent of seat %d", seat)
				if memory, err = memoryOf(at.Agent, who, b.Opponents.known[at.Choice.ID].spec); err != nil {
					return nil, err
				}
			}
			g.Opponents = append(g.Opponents, checkpoint.Agent{Seat: seat, Number: at.Choice.ID, Memory: memory})
		}
		_, g.Place = b.Env.Curriculum(i)
		k := i*b.Config.Seats + seat
		if b.Policy == nil || b.Policy.agents[k] == nil {
			continue
		}
		memory, err := memoryOf(b.Policy.agents[k], "the rollout policy", b.Policy.text)
		if err != nil {
			return nil, err
		}
		g.Policy = append(g.Policy, checkpoint.Agent{Seat: seat, At: b.Policy.episode[k], Memory: memory})
	}
	return g, nil
}

// memoryOf returns the memory of an agent. who and spec name it in errors.
func memoryOf(a env.Agent, who, spec string) ([]byte, error) {
	memory, err := vec.Memory(a)
	if err != nil {
		return nil, badParams("checkpoint: %s, %q, cannot be saved: %v", who, spec, err)
	}
	return memory, nil
}

// head is what a checkpoint says of all games of the batch.
func (b *Batch) head() *checkpoint.Head {
	c := &b.Config
	head := &checkpoint.Head{
		Format: checkpoint.Format, Game: b.Game.Name, Rules: b.Game.Rules, Seats: c.Seats, Players: b.Driven(),
		Rows: c.Rows.String(), Autoreset: c.Autoreset.String(), Reward: c.Reward.String(),
		Illegal: c.Illegal.String(), MaxSteps: c.StepLimit,
		Opponents: b.Opponents.Specs(0), Mixtures: b.Opponents.weighted(), Curriculum: b.Opponents.curriculum,
	}
	if b.Policy != nil {
		head.Policy = b.Policy.text
	}
	return head
}

// Bounds on a recording, and its memory by default.
const (
	recordMemory = 8 << 20 // bytes of records waiting
	gameMemory   = 4 << 10 // bytes of a record in progress
	leastRecords = 64 << 10
	mostRecords  = 1 << 30
)

// Record starts to record one of every so many episodes of the games in list, nil for all, but none in progress. names
// are those of who plays the driven seats, by seat; most is the memory in bytes, nil for the default; before is what is
// known of an earlier recording.
func (b *Batch) Record(every int64, list []int, names []string, most *int64, before recorder.Before) error {
	if b.Recorder != nil {
		return badParams("record: handle %d is being recorded: call records with stop until waiting is 0", b.ID)
	}
	if every < 1 {
		return badParams("record: every is %d, want 1 to %d", every, math.MaxInt64)
	}
	if n := len(before.Given); n != 0 && n != b.Config.Envs {
		return badParams("record: given has %d numbers, want one for each of %d games", n, b.Config.Envs)
	}
	memory := min(recordMemory+gameMemory*(int64(b.Config.Envs)/every+1), mostRecords)
	if most != nil {
		if memory = *most; memory < leastRecords || memory > mostRecords {
			return badParams("record: memory is %d, want %d to %d", memory, leastRecords, mostRecords)
		}
	}
	what := recorder.Options{Game: b.Game, Envs: b.Config.Envs, First: b.First, Every: uint64(every), Memory: memory,
		Largest: min(memory, int64(b.tab.Room())),
		Players: func(i int) []string { return b.Players(i, names) }, Before: before}
	if list != nil {
		what.Chosen = make([]bool, b.Config.Envs)
	}
	for _, i := range list {
		what.Chosen[i] = true
	}
	r := recorder.NewRecorder(what)
	if err := b.tab.Add(r.Size()); err != nil {
		return err
	}
	b.Recorder = r
	b.Env.Trace(r)
	return nil
}

// StopRecording ends the recording, but for the records that wait to be taken.
func (b *Batch) StopRecording() {
	if b.Stream != nil {
		b.Stream.Settle()
	}
	b.Env.Trace(nil)
	b.Recorder.Stop()
}

// EndRecording frees the memory of a recording.
func (b *Batch) EndRecording() {
	_ = b.tab.Add(-b.Recorder.Size())
	b.Recorder = nil
}
