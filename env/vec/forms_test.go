package vec_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/vec"
)

// TestRowForms plays the same games in both forms: the rows of acting seats are equal, waiting rows
// have empty masks, whatever action they get is ignored, and a state of one form fits the other.
func TestRowForms(t *testing.T) {
	seed := envtest.Seed(t)
	for _, g := range games.All {
		for _, seats := range seatCounts(g) {
			t.Run(fmt.Sprintf("%s/%d seats", g.Name, seats), func(t *testing.T) {
				seat := newForm(t, g, seats, vec.SeatRows, seed)
				acting := newForm(t, g, seats, vec.ActingRows, seed)
				require.Equal(t, seats, seat.e.Rows())
				require.Equal(t, min(seats, g.Rows), acting.e.Rows())
				rng := rand.New(rand.NewPCG(seed, 2))
				for range 150 {
					require.NoError(t, acting.e.Sample(acting.actions))
					require.NoError(t, seat.e.Sample(seat.actions))
					require.Equal(t, acting.played(), seat.played())
					for row, owner := range seat.out.Seat {
						if owner == vec.NoSeat {
							seat.actions[row] = env.Action(rng.IntN(1 << 16))
						}
					}
					require.NoError(t, seat.e.Step(seat.actions, seat.out))
					require.NoError(t, acting.e.Step(acting.actions, acting.out))
					require.Equal(t, acting.out.Reward, seat.out.Reward)
					require.Equal(t, acting.out.Score, seat.out.Score)
					require.Equal(t, acting.views(g), seat.views(g))
				}
				state, err := acting.e.Snapshot(0, nil)
				require.NoError(t, err)
				require.NoError(t, seat.e.Restore(1, state))
				require.Equal(t, seat.e.State(0), seat.e.State(1))
				state, err = seat.e.Snapshot(0, nil)
				require.NoError(t, err)
				require.NoError(t, acting.e.Restore(1, state))
				require.Equal(t, acting.e.State(0), acting.e.State(1))
			})
		}
	}
}

// A form is some games with one form of rows.
type form struct {
	e       *vec.Env
	out     *vec.Batch
	actions []env.Action
}

func newForm(t *testing.T, g *env.Game, seats int, rows vec.RowForm, seed uint64) *form {
	e, out, actions := start(t, g, vec.Config{Envs: 4, Seats: seats, Rows: rows, StepLimit: 60})
	require.NoError(t, e.Reset(vec.From(seed), nil, out))
	return &form{e, out, actions}
}

// played returns the joint action of each environment, by seat.
func (f *form) played() (all []env.Moves) {
	for i := range 4 {
		m := env.NoMoves
		for r := range f.e.Rows() {
			if seat := f.e.Seat(i, r); seat != vec.NoSeat && !f.e.Ended(i) {
				m[seat] = f.actions[i*f.e.Rows()+r]
			}
		}
		all = append(all, m)
	}
	return all
}

// A view is what a row that must act shows.
type view struct {
	planes, legal []uint8
	globals       []float32
}

// views returns the views of the acting seats of games that go on.
func (f *form) views(g *env.Game) map[[2]int]view {
	all := map[[2]int]view{}
	for row, seat := range f.out.Seat {
		i := row / f.e.Rows()
		if seat == vec.NoSeat || f.out.Terminated[i] != 0 {
			continue
		}
		p, q, m := g.Planes.Len(), g.Globals(), g.MaskLen()
		all[[2]int{i, int(seat)}] = view{f.out.Planes[row*p : (row+1)*p], f.out.Legal[row*m : (row+1)*m],
			f.out.Globals[row*q : (row+1)*q]}
	}
	return all
}
