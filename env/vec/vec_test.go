package vec_test

import (
	"cmp"
	"context"
	"encoding"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// open creates an Env that is closed when the test ends, with what its steps read and write.
func open(t testing.TB, g *env.Game, c vec.Config) (*vec.Env, *vec.Batch, []env.Action) {
	e := envtest.Closing(t, envtest.Must(vec.New(g, c)))
	return e, envtest.Must(e.NewBatch()), make([]env.Action, c.Envs*e.Rows())
}

// start is open and a reset of all environments.
func start(t testing.TB, g *env.Game, c vec.Config) (*vec.Env, *vec.Batch, []env.Action) {
	e, out, actions := open(t, g, c)
	require.NoError(t, e.Reset(vec.From(1), nil, out))
	return e, out, actions
}

// play takes n steps of actions that the environments draw.
func play(t testing.TB, n int, e *vec.Env, actions []env.Action, out *vec.Batch) {
	for range n {
		require.NoError(t, e.Sample(actions))
		require.NoError(t, e.Step(actions, out))
	}
}

// positions returns every environment as a snapshot.
func positions(e *vec.Env) (all [][]byte) {
	for i := range e.Config().Envs {
		all = append(all, envtest.Must(e.Snapshot(i, nil)))
	}
	return all
}

func TestConfigRefused(t *testing.T) {
	one, three := vec.Mixture{{newDie, 1, 0}}, vec.Mixture{{newDie, 1, 0}, {newDie, 1, 1}, {newDie, 1, 2}}
	for says, c := range map[string]vec.Config{
		"toy:pick: 0 environments, want 1 to 1048576": {},
		"2097152 environments":                        {Envs: 1 << 21},
		"3 seats, want 2 to 2":                        {Envs: 1, Seats: 3},
		"3 agents for 2 seats":                        {Envs: 1, Agents: make([]vec.AgentFactory, 3)},
		"every seat has an agent":                     {Envs: 1, Agents: []vec.AgentFactory{newDie, newDie}},
		"step limit -1":                               {Envs: 1, StepLimit: -1},
		"-1 workers":                                  {Envs: 1, Workers: -1},
		"unknown autoreset mode 3":                    {Envs: 1, Autoreset: 3},
		"every seat is driven":                        {Envs: 1, Curriculum: &vec.Curriculum{Of: 1}},
		"3 mixtures for 2 seats":                      {Envs: 1, Mixtures: make([]vec.Mixture, 3)},
		"both Agents and Mixtures are set": {Envs: 1, Mixtures: []vec.Mixture{nil, one},
			Agents: []vec.AgentFactory{newDie}},
	} {
		require.ErrorContains(t, envtest.Failed(vec.New(toy.Pick, c)), says)
	}
	_, err := vec.New(blocking.Game, vec.Config{Envs: 1, Seats: 3, Mixtures: []vec.Mixture{nil, three, three[:2]},
		Curriculum: &vec.Curriculum{Of: 1}})
	require.ErrorContains(t, err, "mixtures of 3 and 2 choices")
}

func TestNames(t *testing.T) {
	mode, reward, illegal, rows := vec.Disabled, vec.RewardDefault, vec.Refuse, vec.SeatRows
	for name, into := range map[string]encoding.TextUnmarshaler{
		"NextStep": &mode, "SameStep": &mode, "Disabled": &mode, "result": &reward, "score": &reward, "shaped": &reward,
		"error": &illegal, "penalty": &illegal, "random": &illegal, "seat": &rows, "acting": &rows,
	} {
		require.NoError(t, into.UnmarshalText([]byte(name)))
		require.Equal(t, name, fmt.Sprint(into))
	}
	mode = vec.Disabled
	require.NoError(t, mode.UnmarshalText(nil))
	require.Equal(t, vec.NextStep, mode)
	err := mode.UnmarshalText([]byte("nextstep"))
	require.EqualError(t, err, `autoreset mode "nextstep": want one of ["NextStep" "SameStep" "Disabled"]`)
}

// A refused step changes no environment, whichever is to blame.
func TestRefusedStepChangesNothing(t *testing.T) {
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 4})
	require.NoError(t, e.Sample(actions))
	before := positions(e) // Sample draws
	actions[5], actions[6] = 9, 500
	err := e.Step(actions, out)
	require.ErrorIs(t, err, env.ErrIllegal)
	require.EqualError(t, err, "vec toy:pick: environment 2, row 1, seat 1: illegal action: 9 of 9 actions "+
		"(and 1 more environments)")
	var refused *vec.EnvError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []int{2, 3}, refused.Envs)
	require.Equal(t, before, positions(e))

	actions[5], actions[6] = env.None, env.None
	require.NoError(t, e.Step(actions, out), "None is a choice not made")
	require.ErrorContains(t, e.Step(actions[:7], out), "7 actions, want 8")
	require.ErrorContains(t, e.Step(actions, nil), "no batch")
	out.Reward = out.Reward[1:]
	require.ErrorContains(t, e.Step(actions, out), "slab reward has 7 elements, want 8")
}

// Under Random an action that is not legal stands for a legal one.
func TestRandomPolicy(t *testing.T) {
	const n = 3000
	e, out, _ := start(t, toy.Pick, vec.Config{Envs: n, Illegal: vec.Random})
	var counts [4]float64 // of the numbers taken on cards of value 3, and their sum
	for range 4 {
		before := states(e)
		require.NoError(t, e.Step(randomly(2*n), out))
		for i, after := range states(e) {
			last := after.Last[0]
			require.True(t, 1 <= last && last <= before[i].Card)
			if before[i].Card == 3 {
				counts[0]++
				counts[last]++
			}
		}
	}
	for _, count := range counts[1:] {
		require.InDelta(t, 1.0/3, count/counts[0], 0.05)
	}
}

// allocatesNothing takes steps, which have no memory to ask for.
func allocatesNothing(t *testing.T, step func() error) {
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := step(); err != nil {
			panic(err)
		}
	}))
}

func TestStepsAllocateNothing(t *testing.T) {
	for _, g := range []*env.Game{toy.Turns, blockbattle.Game} {
		for _, mode := range []vec.Autoreset{vec.NextStep, vec.SameStep} {
			reward := []vec.Reward{vec.RewardScore, vec.RewardShaped}[mode]
			e, out, actions := start(t, g, vec.Config{
				Envs: 100, Autoreset: mode, Workers: 3, Reward: reward, Illegal: vec.Penalty,
			})
			allocatesNothing(t, func() error { return cmp.Or(e.Sample(actions), e.Step(actions, out)) })
		}
	}
}

func TestCloseEndsGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		e := envtest.Must(vec.New(toy.Pick, vec.Config{Envs: 64, Workers: 8}))
		require.NoError(t, e.Close())
		require.NoError(t, e.Close(), "twice")
		require.ErrorContains(t, e.Step(nil, nil), "closed")
		require.ErrorContains(t, e.Reset(vec.Seeds{}, nil, nil), "closed")
	}
	// Eventually runs its condition in a goroutine of its own.
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, 2*time.Minute, time.Millisecond)
}

// An acting agent is a function.
type acting func(ctx context.Context, s env.State, seat int) (env.Action, error)

func (f acting) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	return f(ctx, s, seat)
}

// always is the factory of one agent.
func always(a env.Agent) vec.AgentFactory { return func(uint64) (env.Agent, error) { return a, nil } }

// counts is what happened to its agents, which are dice that are kept for good.
type counts struct {
	acts, games, closes int
	wrong               func() (env.Action, error) // what they do from now on, nil for what is right
}

func (n *counts) agent(seed uint64) (env.Agent, error) {
	return &counted{die{env.Rand{Word: seed}}, n}, nil
}

type counted struct {
	die
	*counts
}

func (a *counted) NewGame(seed uint64) {
	a.games++
	a.rng = env.Rand{Word: seed}
}

func (a *counted) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if a.acts++; a.wrong != nil {
		return a.wrong()
	}
	return a.die.Act(ctx, s, seat)
}

func (a *counted) Close() error {
	a.closes++
	return nil
}

// What an agent does wrong ends a step, or those of a stream, with an error that says who and why. The Env goes on
// after a full Reset only, as if it were new.
func TestStreamAndStepThatFail(t *testing.T) {
	for says, wrong := range map[string]func() (env.Action, error){
		"out of ideas":                         func() (env.Action, error) { return 0, errors.New("out of ideas") },
		"its agent answers illegal action: 77": func() (env.Action, error) { return 77, nil },
		"panic: no such card":                  func() (env.Action, error) { panic("no such card") },
	} {
		for _, streams := range []bool{false, true} {
			var n counts
			agents := []vec.AgentFactory{nil, func(seed uint64) (env.Agent, error) {
				a, err := n.agent(seed)
				return closing{a, a.(io.Closer)}, err
			}}
			e, out, actions := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 1, Agents: agents})
			first, step := positions(e), func() error { return cmp.Or(e.Sample(actions), e.Step(actions, out)) }
			stream := streamOf(e, out)
			if streams {
				step = func() error {
					if err := cmp.Or(e.Sample(actions), stream.Send(numbers(3), actions)); err != nil {
						return err
					}
					<-stream.Await(3)
					_, err := stream.Recv(nil, 3)
					sent, _ := stream.InFlight()
					require.Zero(t, sent)
					return err
				}
			}
			require.NoError(t, step())
			n.wrong = wrong
			err := step()
			require.ErrorContains(t, err, "vec toy:pick: environment 0: ")
			require.ErrorContains(t, err, says)
			for _, err := range []error{e.Sample(actions), e.Step(actions, out), stream.Send(numbers(3), actions), step(), e.Observe(out),
				e.CloneAll([]int{0}, []int{1}), e.Reset(vec.From(1), []bool{true, false, false}, out)} {
				require.ErrorContains(t, err, "reset all environments to go on")
				require.Equal(t, says == "panic: no such card", errors.As(err, new(*vec.PanicError)))
			}
			n.wrong = nil
			require.NoError(t, e.Reset(vec.From(1), nil, out))
			require.Equal(t, 3, n.closes, "agents of ended episodes are closed")
			require.Equal(t, first, positions(e))
			require.NoError(t, step())
			require.NoError(t, e.Close())
			require.Equal(t, 6, n.closes)
		}
	}
}

// A closing agent has no NewGame.
type closing struct {
	env.Agent
	io.Closer
}

// Agents are shown a hidden copy: what comes is not what they see.
func TestAgentsSeeAHiddenCopy(t *testing.T) {
	differ, asked := 0, 0
	var e *vec.Env
	peek := acting(func(_ context.Context, s env.State, seat int) (env.Action, error) {
		asked++
		shown, truth := s.(*toy.State), e.State(0).(*toy.State)
		if truth.Next != shown.Next || truth.Word != shown.Word {
			differ++
		}
		a := s.Legal(seat, nil)[0]
		s.Step(env.Alone(seat, a)) // it may play on its copy
		return a, nil
	})
	e, _, _ = start(t, toy.Pick, vec.Config{Envs: 1, Agents: []vec.AgentFactory{nil, always(peek)}})
	future(t, e, 40)
	require.Greater(t, asked, 30)
	require.Equal(t, asked, differ)
}

// A panic is an error that names the lowest environment, and says where it was.
func TestEachAndItsPanics(t *testing.T) {
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 500, Workers: 4})
	seen := make([]int, 500)
	require.NoError(t, e.Each(func(worker, i int) {
		seen[i] += len(e.Legal(i, 0, nil))
		if worker >= 4 {
			panic("no such worker")
		}
	}))
	require.NotContains(t, seen, 0)
	err := e.Each(func(_, i int) {
		if i == 321 || i == 499 {
			panic("mine")
		}
	})
	require.ErrorContains(t, err, "environment 321: panic: mine")
	var panicked *vec.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Equal(t, "mine", panicked.Value)
	require.Contains(t, string(panicked.Stack), "vec_test.go", "says where")
	require.NotContains(t, err.Error(), "vec_test.go", "the text is for clients too")
	require.NoError(t, e.Each(func(int, int) {}))
}

// digest plays random games, split into `parts` Envs over which seeds run on, and returns a sum of each slab after each step.
func digest(t *testing.T, g *env.Game, c vec.Config, parts, steps int, seed uint64) map[string]uint32 {
	table, sums := crc32.MakeTable(crc32.Castagnoli), map[string]uint32{}
	c.Envs /= parts
	for part := range parts {
		e, _, actions := open(t, g, c)
		l := envtest.Must(e.Layout())
		block := l.Alloc()
		out := envtest.Must(l.View(block))
		require.NoError(t, e.Reset(vec.From(seed+uint64(part*c.Envs)), nil, out))
		for step := range steps {
			play(t, 1, e, actions, out)
			for _, f := range l.Fields {
				key := fmt.Sprint(f.Name, step)
				sums[key] = crc32.Update(sums[key], table, block[f.Offset:f.Offset+f.Len])
			}
		}
	}
	return sums
}

// TestSameBytes plays many environments under 1, 2 and 8 processors, also split into several Envs: not a byte differs.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		g *env.Game
		c vec.Config
	}{
		{toy.Pick, vec.Config{Envs: 1000, Agents: []vec.AgentFactory{newDie}, StepLimit: 7}},
		{blockbattle.Game, vec.Config{Envs: 1000, Autoreset: vec.SameStep}},
		{toy.Turns, vec.Config{Envs: 4096, StepLimit: 6, Autoreset: vec.SameStep,
			Mixtures: []vec.Mixture{{{newDie, 1, 0}, {newLow, 2, 1}}, nil, {{newLow, 1, 1}, {newDie, 0.1, 2}}}}},
	} {
		all := map[int]map[string]uint32{}
		for parts, procs := range map[int]int{1: 1, 2: 2, 4: 8} {
			runtime.GOMAXPROCS(procs)
			all[parts] = digest(t, c.g, c.c, parts, envtest.Many(20, 1000), envtest.Seed(t))
		}
		require.Equal(t, all[1], all[2], c.g.Name)
		require.Equal(t, all[1], all[4], c.g.Name)
	}
}

func TestSeeds(t *testing.T) {
	e, out, _ := open(t, toy.Pick, vec.Config{Envs: 3})
	seeds := func() (list []uint64) {
		for i := range 3 {
			seed, episode := e.Seed(i)
			list = append(list, seed, episode)
		}
		return list
	}
	require.NoError(t, e.Reset(vec.Seeds{}, nil, out))
	own := seeds()
	require.NotEqual(t, own[0], own[2], "seeds from the operating system")
	for _, c := range []struct {
		seeds vec.Seeds
		mask  []bool
		want  []uint64
	}{
		{vec.From(math.MaxUint64), nil, []uint64{math.MaxUint64, 0, 0, 0, 1, 0}},
		{vec.Seeds{}, []bool{false, true, false}, []uint64{math.MaxUint64, 0, 0, 1, 1, 0}},
		{vec.List([]uint64{5, 6, 7}), []bool{true, false, true}, []uint64{5, 0, 0, 1, 7, 0}},
		{vec.List([]uint64{8, 9, 10}), []bool{true, true, false}, []uint64{8, 0, 9, 0, 7, 0}},
	} {
		require.NoError(t, e.Reset(c.seeds, c.mask, out))
		require.Equal(t, c.want, seeds())
	}
	require.ErrorContains(t, e.Reset(vec.List([]uint64{1}), nil, out), "1 seeds for 3 environments")
	require.ErrorContains(t, e.Reset(vec.From(1), []bool{true}, out), "reset mask of 1, want 3")
	require.ErrorContains(t, e.Reset(vec.From(1), make([]bool, 3), out), "at least one true")
	require.Equal(t, []uint64{8, 0, 9, 0, 7, 0}, seeds(), "a refused Reset changes nothing")
}
