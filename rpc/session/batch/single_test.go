package batch

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
	"blockyard/rpc/session/limits"
)

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
	t.Helper()
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
	t.Helper()
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
		c, err := from.Copy(0)
		require.NoError(t, err)
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
