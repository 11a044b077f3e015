package batch

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/session/recorder"
	"blockyard/rpc/wire"
)

// open opens four games of toy.Pick, of which both seats are played by the test.
func open(t *testing.T, l *limits.Ledger, o Options) *Batch {
	return envtest.Must(New(toy.Pick, vec.Config{Envs: 4, Seats: 2, Autoreset: vec.Disabled}, o, &Agents{}, l.Tab(nil)))
}

func ledger() *limits.Ledger { return limits.NewLedger(limits.DefaultLimits(), nil) }

// begin resets all games, with seeds from 1.
func begin(t *testing.T, b *Batch) {
	seeds := vec.From(1)
	require.NoError(t, b.Reset(&seeds, nil, b.Own))
}

// step plays the most that a card offers in row 0 of every game, the least in row 1, and writes to p.
func step(t *testing.T, b *Batch, p *Place) {
	for row := range b.Actions {
		legal := b.legal(row/2, row%2, nil)
		b.Actions[row] = []env.Action{slices.Max(legal), slices.Min(legal)}[row%2]
	}
	require.NoError(t, b.Step(p))
}

// Whatever New refuses leaves nothing on the tab, and Close leaves nothing of what New opened.
func TestTheTabIsEvenAfterwards(t *testing.T) {
	l := ledger()
	even := l.Open()
	c := vec.Config{Envs: 4, Seats: 2}
	seats := map[int][]Choice{1: {{Spec: "first", Weight: 1}}}
	for want, refused := range map[string]struct {
		c vec.Config
		o Options
	}{
		"fields names": {c, Options{Fields: []string{"wings"}}},
		"open: ":       {vec.Config{Envs: 4, Seats: 9}, Options{}},
		"no agents":    {c, Options{Seats: seats}},
		"max_envs":     {vec.Config{Envs: 1 << 20, Seats: 2}, Options{}},
	} {
		require.ErrorContains(t, envtest.Failed(New(toy.Pick, refused.c, refused.o, &Agents{}, l.Tab(nil))), want)
		require.Equal(t, even, l.Open(), want)
	}
	b := open(t, l, Options{})
	require.Equal(t, 1, l.Open().Handles)
	require.Equal(t, 4, l.Open().Envs)
	require.Equal(t, b.Memory(), l.Open().Memory)
	require.NoError(t, b.Record(1, nil, nil, nil, recorder.Before{}))
	require.Greater(t, l.Open().Memory, int64(recordMemory))
	require.NoError(t, b.Close())
	require.Equal(t, even, l.Open())
}

// Games that were not reset say so; those that are over are listed until the next step or reset.
func TestEndedListsTheGamesOfTheLastStep(t *testing.T) {
	b := envtest.Closing(t, open(t, ledger(), Options{ID: 7}))
	var asleep *wire.Error
	require.ErrorAs(t, b.Awake("step"), &asleep)
	require.EqualValues(t, wire.NeedsReset, asleep.Code)
	require.ErrorContains(t, b.Reset(nil, []bool{true, false, false, false}, b.Own), "handle 7 has not been reset")
	begin(t, b)
	require.NoError(t, b.Awake("step"))
	ended := map[int]bool{}
	for len(ended) == 0 {
		step(t, b, b.Own)
		for _, i := range b.Ended {
			ended[i] = true
		}
	}
	for i := range b.Config.Envs {
		require.Equal(t, ended[i], b.Env.State(i).Acting() == 0)
		require.Equal(t, ended[i], b.Own.terminated[i] == 1)
	}
	require.NoError(t, b.Reset(nil, nil, b.Own))
	require.Empty(t, b.Ended)
}

// What is played on from a state that was put back is what was played from it before. A list of states of which one is
// bad changes no game.
func TestStatesComeBackAllOrNone(t *testing.T) {
	b := envtest.Closing(t, open(t, ledger(), Options{}))
	all := []int{0, 1, 2, 3}
	begin(t, b)
	step(t, b, b.Own)
	before := states(t, b)
	require.Len(t, before, 4*b.StateLen())
	step(t, b, b.Own)
	after, slab := states(t, b), slices.Clone(b.Own.Slab)
	require.NotEqual(t, before, after)

	n := b.StateLen()
	for name, spoil := range map[string]func(state []byte){
		"this is no state":              func(s []byte) { s[0] = 'X' },
		"another version of the format": func(s []byte) { s[3]++ },
		"another game, rules version":   func(s []byte) { s[4]++ },
	} {
		bad := slices.Clone(before)
		spoil(bad[3*n:])
		err := b.Restore(all, bad)
		require.ErrorContains(t, err, name)
		var told *wire.Error
		require.ErrorAs(t, err, &told)
		require.Equal(t, 3, told.Data["index"])
		require.Equal(t, after, states(t, b), name)
	}

	require.NoError(t, b.Restore(all, before))
	require.Equal(t, before, states(t, b))
	step(t, b, b.Own)
	require.Equal(t, after, states(t, b))
	require.Equal(t, slab, b.Own.Slab)
}

func states(t *testing.T, b *Batch) []byte {
	return envtest.Must(b.States([]int{0, 1, 2, 3}))
}

// A slot is written like the batch's own slab, packed boards and all, and is found again by its address.
func TestASlotIsWrittenLikeTheSlab(t *testing.T) {
	b := envtest.Closing(t, open(t, ledger(), Options{Packed: true}))
	begin(t, b)
	first := states(t, b)
	step(t, b, b.Own)
	want := slices.Clone(b.Own.Slab)
	require.NoError(t, b.Restore([]int{0, 1, 2, 3}, first))
	memory := vec.Layout{Len: len(want)}.Alloc()
	for range 2 {
		slot := envtest.Must(b.Lend(unsafe.Pointer(&memory[0])))
		require.Zero(t, slot, "one address is one slot")
	}
	slot := int64(0)
	p := envtest.Must(b.To("step", &slot))
	step(t, b, p)
	require.Equal(t, want, memory)
	slot = 1
	require.ErrorContains(t, envtest.Failed(b.To("step", &slot)), "step: slot 1, but the handle has 1")
	for _, at := range []unsafe.Pointer{unsafe.Pointer(&memory[4]), nil} {
		require.ErrorContains(t, envtest.Failed(b.Lend(at)), "aligned to 8 bytes")
	}
}

// A counter takes what its number of moves so far says, which it remembers.
type counter struct {
	moves uint64
	clock bool // it cannot be copied
}

func (c *counter) Act(_ context.Context, s env.State, seat int) (env.Action, error) {
	legal := s.Legal(seat, nil)
	c.moves++
	return legal[c.moves%uint64(len(legal))], nil
}

func (c *counter) AppendMemory(dst []byte) ([]byte, error) {
	if c.clock {
		return dst, errors.New("it has a clock")
	}
	return binary.LittleEndian.AppendUint64(dst, c.moves), nil
}

func (c *counter) RestoreMemory(src []byte) error {
	c.moves = binary.LittleEndian.Uint64(src)
	return nil
}

// against opens one game of toy.Pick against a counter, whose finished records go to all.
func against(t *testing.T, l *limits.Ledger, clock bool, all *[]*record.Record) *Batch {
	agents := &Agents{New: func(*env.Game, bots.Text) (vec.AgentFactory, error) {
		return func(uint64) (env.Agent, error) { return &counter{clock: clock}, nil }, nil
	}}
	o := Options{Fields: []string{}, Seats: map[int][]Choice{1: {{Spec: "counter", Weight: 1}}}}
	b, err := New(toy.Pick, vec.Config{Envs: 1, Seats: 2, Autoreset: vec.Disabled, Reward: vec.RewardScore}, o, agents, l.Tab(nil))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	require.NoError(t, b.RecordTo([]string{"me", ""}, func(r *record.Record) { *all = append(*all, r) }))
	return b
}

// steps takes the most that a card offers in so many steps, fewer if the game ends, and returns the points of them.
func steps(t *testing.T, b *Batch, n int) (points float32) {
	for ; n > 0 && !b.Env.Ended(0); n-- {
		legal := b.Env.Legal(0, 0, nil)
		b.Actions[0] = legal[len(legal)-1]
		require.NoError(t, b.Step(b.Own))
		points += b.Reward(0, 0)
	}
	return points
}

// A copy of a game goes on as the game does, with its opponent and its record. If the opponent cannot be copied, another
// one plays on, and the record still tells the game from its beginning.
func TestCopiesGoOnAsTheirGames(t *testing.T) {
	for _, clock := range []bool{false, true} {
		l := ledger()
		var all []*record.Record
		from, to := against(t, l, clock, &all), against(t, l, clock, &all)
		begin(t, from)
		steps(t, from, 2)
		c := envtest.Must(from.Copy(0))
		require.NoError(t, to.Paste(0, c))
		steps(t, to, 1)
		require.NoError(t, to.Paste(0, c), "a copy may be pasted again")
		want, have := steps(t, from, 100), steps(t, to, 100)
		require.Len(t, all, 2)
		for _, rec := range all {
			require.NoError(t, record.Check(toy.Pick, rec))
			require.Equal(t, []string{"me", "counter"}, rec.Agents)
		}
		require.Equal(t, all[0].Choices[:4], all[1].Choices[:4])
		require.Equal(t, !clock, want == have && all[0].Choices[5] == all[1].Choices[5], "the opponent goes on, or begins anew")
	}
}

// A game that its player stops is recorded as far as it went, once.
func TestStoppedGamesAreRecorded(t *testing.T) {
	var all []*record.Record
	b := against(t, ledger(), false, &all)
	begin(t, b)
	points := steps(t, b, 2)
	b.CutRecords()
	b.CutRecords()
	steps(t, b, 100)
	require.Len(t, all, 1)
	require.True(t, all[0].Stopped)
	require.Len(t, all[0].Choices, 4)
	require.EqualValues(t, points, all[0].Scores[0])
	require.NoError(t, record.Check(toy.Pick, all[0]))
	begin(t, b)
	steps(t, b, 100)
	require.Len(t, all, 2, "the next episode is recorded")
	require.False(t, all[1].Stopped)
}

// What the games of a batch did is part of the totals of its server.
func TestStepsAreCounted(t *testing.T) {
	l := ledger()
	b := against(t, l, false, new([]*record.Record))
	begin(t, b)
	steps(t, b, 2)
	require.Zero(t, b.Stepped(1), "no action was illegal")
	require.Zero(t, b.Stepped(1))
	totals := &l.Totals
	require.Equal(t, []uint64{2, 2, 2}, []uint64{totals.Steps.Load(), totals.SeatSteps.Load(), totals.Decisions.Load()})
}
