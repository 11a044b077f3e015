package tetrisduelbot

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// draw makes the position before half-turn turn from a board drawn by rows from row 10 of
// the mover's frame on, block kinds from there on being I J L O S T Z in turn.
func draw(t testing.TB, turn int, board string) *tetrisduel.State {
	t.Helper()
	s := &tetrisduel.State{}
	s.Force(make([]uint16, tetrisduel.Packages)) // the first order: I J L O S T Z
	s.Reset(0)
	s.Turn = int16(turn)
	cells := s.Cells
	for y, row := range strings.Fields(board) {
		require.Len(t, row, columns)
		for x, c := range row {
			if c == '#' {
				cells.Set(x, tetrisduel.Peace+y)
			}
		}
	}
	if s.Cells = cells; s.Mover() == 1 {
		s.Cells = tetrisduel.Turned(&cells)
	}
	require.NoError(t, s.Check())
	return s
}

// well lacks column 9 in two rows; roofed lacks a covered cell too.
const (
	well = `
		..........
		..........
		..........
		#########.
		#########.`
	roofed = `
		..........
		..........
		.######...
		##.######.
		#########.`
)

// One weight is 1, the others are 0: the worth, to the seat to move, is that term.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		term   Term
		turn   int
		board  string
		change func(s *tetrisduel.State)
		want   float32
	}{
		{Lead, 1, "", func(s *tetrisduel.State) { s.Points = [2]int32{7, 3} }, 4},
		{Lead, 2, "", func(s *tetrisduel.State) { s.Points = [2]int32{7, 3} }, -4},
		{Holes, 1, roofed, nil, 1 - (1 + 3 + 9 + 9)}, // from below nine columns begin in the last row
		{Clean1, 1, well, nil, 0},
		{Clean1, 1, roofed, nil, 0},
		{Clean2, 1, roofed, nil, 0},
		{Peak, 1, "", nil, 0},
		{Now, 1, well, nil, 2},   // the I
		{Now, 2, well, nil, 1},   // the J, lying over the upper row
		{Next, 1, well, nil, -2}, // the opponent's J, hanging into it from below
		{Carry, 1, well, func(s *tetrisduel.State) { s.Combo = 3 }, 3},
		{Carry, 1, "", func(s *tetrisduel.State) { s.Combo = 3 }, -3},
		{Kinds, 1, well, nil, 0},
	} {
		s := draw(t, c.turn, c.board)
		if c.change != nil {
			c.change(s)
		}
		h := Hand{}
		h.Weights[c.term] = 1
		var out [2]float32
		h.Evaluate([]env.State{s}, s.Mover(), out[:1])
		h.Evaluate([]env.State{s}, 1-s.Mover(), out[1:])
		require.Equal(t, out[0], -out[1], "%s: one seat's gain is the other's loss", TermNames[c.term])
		require.Equal(t, c.want, out[0], "%s of %s", TermNames[c.term], c.board)
	}
}

// What is not points fades over the last half-turns, points do not.
func TestWhatIsNotPointsFades(t *testing.T) {
	h := Hand{}
	h.Weights[Bumps], h.Weights[Lead] = 1, 1
	worth := func(turn int) float32 {
		s := draw(t, turn, roofed)
		var out [1]float32
		h.Evaluate([]env.State{s}, s.Mover(), out[:])
		return out[0]
	}
	require.NotZero(t, worth(1))
	require.Equal(t, worth(1), worth(tetrisduel.HalfTurns-fade))
	require.InDelta(t, worth(2)/fade, worth(tetrisduel.HalfTurns), 1e-5)
}

// positions are those of a game between greedy players.
func positions(t testing.TB, seed uint64, each func(s *tetrisduel.State)) {
	t.Helper()
	s := &tetrisduel.State{}
	s.Reset(seed)
	greedy := search.NewGreedy(tetrisduel.Game, NewHand())
	for s.Acting() != 0 {
		each(s)
		view := *s
		a, err := greedy.Act(context.Background(), &view, s.Mover())
		require.NoError(t, err)
		s.Step(env.Alone(s.Mover(), a))
	}
}

func TestFeatures(t *testing.T) {
	require.Len(t, FeatureNames, Len)
	for i, name := range FeatureNames[:halfLen] {
		require.Equal(t, "opponent"+name[len("own"):], FeatureNames[halfLen+i])
	}
	var x, y [Len]float32
	positions(t, 6, func(s *tetrisduel.State) {
		fill(s, x[:])
		for i, v := range x {
			require.True(t, v >= -4 && v <= 12 && v == v, "%s is %v", FeatureNames[i], v)
		}
	})
	// Seen from the other end, after the other's choice, halves change places but for the
	// blocks that are to come.
	a, b := draw(t, 3, roofed), draw(t, 4, roofed)
	fill(a, x[:])
	fill(b, y[:])
	require.Equal(t, x[:halfLen-4*soon], y[:halfLen-4*soon])
	require.Equal(t, x[halfLen:2*halfLen-4*soon], y[halfLen:2*halfLen-4*soon])
	b.Cells = tetrisduel.Turned(&b.Cells)
	fill(b, y[:])
	require.Equal(t, x[:halfLen-4*soon], y[halfLen:2*halfLen-4*soon])
}

// fill writes all features of s as the seat that has just moved sees it.
func fill(s *tetrisduel.State, out []float32) {
	r := new(FeatureReader)
	r.Shared(s, moved(s), out[OwnLen:])
	r.Own(s, moved(s), out[:OwnLen])
}
