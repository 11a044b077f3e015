package batch

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/session/recorder"
	"blockyard/rpc/wire"
)

// open opens four games of toy.Pick, of which both seats are played by the test.
func open(t *testing.T, l *limits.Ledger, o Options) *Batch {
	t.Helper()
	b, err := New(toy.Pick, vec.Config{Envs: 4, Seats: 2, Autoreset: vec.Disabled}, o, &Agents{}, l.Tab(nil))
	require.NoError(t, err)
	return b
}

func ledger() *limits.Ledger { return limits.NewLedger(limits.DefaultLimits(), nil) }

// begin resets all games, with seeds from 1.
func begin(t *testing.T, b *Batch) {
	t.Helper()
	seeds := vec.From(1)
	require.NoError(t, b.Reset(&seeds, nil, b.Own))
}

// step plays the most that a card offers in row 0 of every game, the least in row 1, and writes to p.
func step(t *testing.T, b *Batch, p *Place) {
	t.Helper()
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
		_, err := New(toy.Pick, refused.c, refused.o, &Agents{}, l.Tab(nil))
		require.ErrorContains(t, err, want)
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
	b := open(t, ledger(), Options{ID: 7})
	defer b.Close()
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
	b := open(t, ledger(), Options{})
	defer b.Close()
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
	t.Helper()
	all, err := b.States([]int{0, 1, 2, 3})
	require.NoError(t, err)
	return all
}

// A slot is written like the batch's own slab, packed boards and all, and is found again by its address.
func TestASlotIsWrittenLikeTheSlab(t *testing.T) {
	b := open(t, ledger(), Options{Packed: true})
	defer b.Close()
	begin(t, b)
	first := states(t, b)
	step(t, b, b.Own)
	want := slices.Clone(b.Own.Slab)
	require.NoError(t, b.Restore([]int{0, 1, 2, 3}, first))
	memory := vec.Layout{Len: len(want)}.Alloc()
	for range 2 {
		slot, err := b.Lend(unsafe.Pointer(&memory[0]))
		require.NoError(t, err)
		require.Zero(t, slot, "one address is one slot")
	}
	slot := int64(0)
	p, err := b.To("step", &slot)
	require.NoError(t, err)
	step(t, b, p)
	require.Equal(t, want, memory)
	slot = 1
	_, err = b.To("step", &slot)
	require.ErrorContains(t, err, "step: slot 1, but the handle has 1")
	for _, at := range []unsafe.Pointer{unsafe.Pointer(&memory[4]), nil} {
		_, err = b.Lend(at)
		require.ErrorContains(t, err, "aligned to 8 bytes")
	}
}
