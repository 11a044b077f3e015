package vec_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/vec"
)

// A die is an agent that chooses by its own generator.
type die struct{ rng env.Rand }

func newDie(seed uint64) (env.Agent, error) { return &die{env.Rand{Word: seed}}, nil }

func (d *die) Act(_ context.Context, s env.State, seat int) (env.Action, error) {
	legal := s.Legal(seat, nil)
	return legal[d.rng.Next()%uint64(len(legal))], nil
}

func newLow(uint64) (env.Agent, error) { return firstLegal{}, nil }

// A twin is one environment done the obvious way: the judge of the fast one.
type twin struct {
	g             *env.Game
	c             vec.Config
	at, rows      int
	seed, episode uint64
	s             env.State
	agents        []env.Agent
	opponents     []uint16 // IDs of the agents
	steps         int
	seats         []int // by row: the seat that must act, -1 for none
	cut           bool
}

func (w *twin) reset(seed uint64) {
	w.seed, w.episode = seed, 0
	w.begin()
}

func (w *twin) begin() {
	w.s = w.g.New(w.c.Seats)
	if w.episode == 0 {
		w.s.Reset(w.seed)
	} else {
		w.s.Reset(env.Derive(w.seed, w.episode))
	}
	w.agents, w.opponents = make([]env.Agent, w.c.Seats), slices.Repeat([]uint16{vec.NoOpponent}, w.c.Seats)
	for seat, m := range w.c.Mixtures {
		if len(m) == 0 {
			continue
		}
		stream := func(kind uint64) uint64 { return env.Derive(env.Derive(w.seed, kind+w.episode), uint64(seat)) }
		total := 0.0
		for _, c := range m {
			total += c.Weight
		}
		k := 0
		for at := float64(stream(1<<59)>>11) / (1 << 53) * total; at >= m[k].Weight; k++ {
			at -= m[k].Weight
		}
		w.opponents[seat] = m[k].ID
		w.agents[seat], _ = m[k].Agent(stream(1 << 62))
	}
	w.steps, w.cut, w.seats = 0, false, slices.Repeat([]int{-1}, w.rows)
	w.play()
}

// play lets agents move until a driven seat must, and gives out the rows.
func (w *twin) play() {
	for w.s.Acting() != 0 {
		var driven []int
		for seat := range w.c.Seats {
			if w.s.Acting().Has(seat) && w.agents[seat] == nil {
				driven = append(driven, seat)
			}
		}
		if len(driven) > 0 && w.c.Rows == vec.SeatRows {
			w.seats = w.players()
			for r, seat := range w.seats {
				if !slices.Contains(driven, seat) {
					w.seats[r] = -1
				}
			}
			return
		}
		if len(driven) > 0 {
			w.seats = append(driven, slices.Repeat([]int{-1}, w.rows-len(driven))...)
			return
		}
		w.s.Step(w.fill(env.NoMoves))
	}
	if w.c.Rows == vec.SeatRows {
		w.seats = slices.Repeat([]int{-1}, w.rows)
	}
}

// players returns the driven seats.
func (w *twin) players() (seats []int) {
	for seat := range w.c.Seats {
		if w.agents[seat] == nil {
			seats = append(seats, seat)
		}
	}
	return seats
}

// fill adds the agents' choices to m.
func (w *twin) fill(m env.Moves) env.Moves {
	for seat, a := range w.agents {
		if a != nil && w.s.Acting().Has(seat) {
			m[seat], _ = a.Act(context.Background(), w.s, seat)
		}
	}
	return m
}

func (w *twin) step(actions []env.Action, out *vec.Batch) {
	if w.s.Acting() == 0 || w.cut {
		w.episode++
		w.begin()
		w.write(out, make([]float32, w.c.Seats))
		return
	}
	m := env.NoMoves
	bad := make([]uint8, w.rows)
	for r, seat := range w.seats {
		a := actions[w.at*w.rows+r]
		switch {
		case seat < 0 || a == env.None:
		case slices.Contains(w.s.Legal(seat, nil), a):
			m[seat] = a
		default:
			bad[r] = 1
		}
	}
	before, was := w.scores(), w.potentials()
	w.s.Step(w.fill(m))
	w.play()
	w.steps++
	w.cut = w.s.Acting() != 0 && w.steps == w.c.StepLimit
	reward := make([]float32, w.c.Seats)
	for seat := range reward {
		switch reward[seat] = w.s.Result(seat); {
		case w.c.Reward == vec.RewardScore:
			reward[seat] = float32(w.scores()[seat] - before[seat])
		case w.c.Reward == vec.RewardShaped && w.s.Acting() == 0:
			reward[seat] -= float32(was[seat])
		case w.c.Reward == vec.RewardShaped:
			reward[seat] += float32(0.99*w.potentials()[seat] - was[seat])
		}
	}
	w.write(out, reward)
	if out.Illegal != nil {
		copy(out.Illegal[w.at*w.rows:], bad)
	}
	if w.c.Autoreset == vec.SameStep && (w.cut || w.s.Acting() == 0) {
		w.look(out.FinalPlanes, out.FinalGlobals, out.FinalSeat)
		w.masks(out.FinalLegal)
		w.who(out.FinalOpponent)
		w.episode++
		w.begin()
		w.look(out.Planes, out.Globals, out.Seat)
		w.masks(out.Legal)
		w.who(out.Opponent)
	}
}

func (w *twin) scores() (scores []int32) {
	for seat := range w.c.Seats {
		scores = append(scores, int32(w.s.Score(seat)))
	}
	return scores
}

// potentials returns the potential of the position for each seat.
func (w *twin) potentials() (all []float64) {
	for seat := range w.c.Seats {
		p, q, sum := make([]uint8, w.g.Planes.Len()), make([]float32, w.g.Globals()), 0.0
		w.s.Observe(seat, p, q)
		for _, t := range w.g.Potential {
			sum += t.Weight * float64(q[slices.Index(w.g.GlobalNames, t.Global)])
		}
		all = append(all, math.Tanh(sum))
	}
	return all
}

func (w *twin) write(out *vec.Batch, reward []float32) {
	w.look(out.Planes, out.Globals, out.Seat)
	w.masks(out.Legal)
	w.who(out.Opponent)
	copy(out.Reward[w.at*w.c.Seats:], reward)
	copy(out.Score[w.at*w.c.Seats:], w.scores())
	if out.Illegal != nil {
		clear(out.Illegal[w.at*w.rows : (w.at+1)*w.rows])
	}
	out.Terminated[w.at], out.Truncated[w.at] = 0, 0
	if w.s.Acting() == 0 {
		out.Terminated[w.at] = 1
	} else if w.cut {
		out.Truncated[w.at] = 1
	}
}

// who writes the IDs of the agents, if there are any.
func (w *twin) who(slab []uint16) {
	if slab != nil {
		copy(slab[w.at*w.c.Seats:], w.opponents)
	}
}

func (w *twin) look(planes []uint8, globals []float32, seats []uint8) {
	for r, seat := range w.seats {
		row := w.at*w.rows + r
		p, q := make([]uint8, w.g.Planes.Len()), make([]float32, w.g.Globals())
		seats[row] = 0xFF
		if seat >= 0 {
			seats[row] = uint8(seat)
		}
		if w.c.Rows == vec.SeatRows {
			seat = w.players()[r]
		}
		if seat >= 0 {
			w.s.Observe(seat, p, q)
		}
		copy(planes[row*len(p):], p)
		copy(globals[row*len(q):], q)
	}
}

func (w *twin) masks(slab []uint8) {
	for r, seat := range w.seats {
		mask := make([]uint8, w.g.MaskLen())
		if seat >= 0 {
			for _, a := range w.s.Legal(seat, nil) {
				mask[a/8] += 1 << (a % 8)
			}
		}
		copy(slab[(w.at*w.rows+r)*len(mask):], mask)
	}
}

// A pause is toy.Pick in which seat 1 has no choice on cards of value 2, so that a row is
// sometimes empty.
type pause struct{ toy.State }

func (s *pause) CopyFrom(src env.State) { *s = *src.(*pause) }

func (s *pause) Acting() env.Seats {
	if s.Card == 2 {
		return s.State.Acting() & 1
	}
	return s.State.Acting()
}

func (s *pause) Legal(seat int, dst []env.Action) []env.Action {
	if s.Acting().Has(seat) {
		dst = s.State.Legal(seat, dst)
	}
	return dst
}

func allGames() []*env.Game {
	p := *toy.Pick
	p.Name = "toy:pause"
	p.New = func(seats int) env.State { return &pause{*toy.Pick.New(seats).(*toy.State)} }
	all := append([]*env.Game{toy.Pick, toy.Turns, &p}, games.All...)
	if testing.Short() {
		return all[:4] // goroutines do the same whatever the game is
	}
	return all
}

// twinConfigs are the ways to drive a game that the twin judges.
func twinConfigs(g *env.Game) map[string]vec.Config {
	last := make([]vec.AgentFactory, g.MinSeats)
	last[g.MinSeats-1] = newDie
	first := make([]vec.AgentFactory, g.MinSeats)
	first[0] = newDie
	if g.MinSeats == 1 { // the caller has the only seat
		first, last = nil, nil
	}
	var mixed []vec.Mixture
	if g.MinSeats > 1 {
		mixed = make([]vec.Mixture, g.MinSeats)
		mixed[0] = vec.Mixture{{newDie, 0.5, 9}, {newLow, 2, 300}, {newDie, 1.5, 2}}
	}
	shaped := vec.RewardShaped
	if g.Potential == nil {
		shaped = vec.RewardDefault
	}
	return map[string]vec.Config{
		"all driven":        {},
		"shaped":            {Reward: shaped, StepLimit: 7},
		"shaped, same step": {Reward: shaped, StepLimit: 8, Autoreset: vec.SameStep, Agents: last},
		"mixture":           {Mixtures: mixed, StepLimit: 6},
		"mixture, at once":  {Mixtures: mixed, StepLimit: 3, Autoreset: vec.SameStep},
		"score":             {Reward: vec.RewardScore, Autoreset: vec.SameStep},
		"same step":         {Autoreset: vec.SameStep},
		"limit":             {StepLimit: 5},
		"limit, same step":  {StepLimit: 4, Autoreset: vec.SameStep, Agents: first},
		"agent first":       {Agents: first, Reward: vec.RewardScore},
		"agent last":        {Agents: last, Autoreset: vec.SameStep},
		"disabled":          {Autoreset: vec.Disabled, Agents: last, StepLimit: 9},
		"penalty":           {Illegal: vec.Penalty},
		"penalty, disabled": {Illegal: vec.Penalty, Autoreset: vec.Disabled, StepLimit: 7},
	}
}

// seatCounts returns the fewest and the most seats of a game, and one more than the fewest.
func seatCounts(g *env.Game) []int {
	counts := []int{g.MinSeats, min(g.MinSeats+1, g.MaxSeats), g.MaxSeats}
	return slices.Compact(counts)
}

// TestTwin plays random games, every way there is, beside the obvious implementation:
// every slab is equal after every step.
func TestTwin(t *testing.T) {
	seed := envtest.Seed(t)
	for _, g := range allGames() {
		for name, c := range twinConfigs(g) {
			for _, seats := range seatCounts(g) {
				for _, c.Rows = range []vec.RowForm{vec.SeatRows, vec.ActingRows} {
					t.Run(fmt.Sprintf("%s/%s/%d seats/%v rows", g.Name, name, seats, c.Rows), func(t *testing.T) {
						c.Envs, c.Seats, c.Workers = 5, seats, 3
						compare(t, g, c, seed)
					})
				}
			}
		}
	}
}

func compare(t *testing.T, g *env.Game, c vec.Config, seed uint64) {
	e, err := vec.New(g, c)
	require.NoError(t, err)
	defer e.Close()
	got, err := e.NewBatch()
	require.NoError(t, err)
	want, err := e.NewBatch()
	require.NoError(t, err)
	if c.Autoreset != vec.SameStep {
		require.Nil(t, got.FinalPlanes)
	}
	c.Mixtures = e.Config().Mixtures
	twins := make([]*twin, c.Envs)
	c.Reward = e.Config().Reward
	for i := range twins {
		twins[i] = &twin{g: g, c: c, at: i, rows: e.Rows()}
		twins[i].reset(seed + uint64(i))
		twins[i].write(want, make([]float32, c.Seats))
	}
	require.NoError(t, e.Reset(vec.From(seed), nil, got))
	require.Equal(t, want, got)
	rng := rand.New(rand.NewPCG(seed, 1))
	actions := make([]env.Action, c.Envs*e.Rows())
	for step := range 120 {
		if c.Autoreset == vec.Disabled {
			resetEnded(t, e, twins, want, got)
		}
		require.NoError(t, e.Sample(actions))
		if c.Illegal == vec.Penalty {
			actions[rng.IntN(len(actions))] = env.Action(rng.IntN(1 << 16))
		}
		require.NoError(t, e.Step(actions, got))
		for _, w := range twins {
			w.step(actions, want)
		}
		require.Equal(t, want, got, fmt.Sprintf("step %d", step))
	}
}

// resetEnded resets what has ended, and no more, on both sides.
func resetEnded(t *testing.T, e *vec.Env, twins []*twin, want, got *vec.Batch) {
	ended, some := make([]bool, len(twins)), false
	for i, w := range twins {
		ended[i] = w.cut || w.s.Acting() == 0
		require.Equal(t, ended[i], e.Ended(i))
		some = some || ended[i]
		if ended[i] {
			w.episode++
			w.begin()
		}
		w.write(want, make([]float32, w.c.Seats))
	}
	if some {
		require.NoError(t, e.Reset(vec.Seeds{}, ended, got))
		require.Equal(t, want, got)
	}
}
