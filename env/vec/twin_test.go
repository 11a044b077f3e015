package vec_test

import (
	"context"
	"fmt"
	"maps"
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
	played        []env.Moves // by driven seats
	illegal       uint64
	made          []env.Action // by agents in this step
	place         vec.Place
	tallies       map[uint16]vec.Tally
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
		k := w.place.Rung
		for at := float64(stream(1<<59)>>11) / (1 << 53) * total; w.c.Curriculum == nil && at >= m[k].Weight; k++ {
			at -= m[k].Weight
		}
		w.opponents[seat] = m[k].ID
		if w.agents[seat] = middle; m[k].Agent != nil { // else the caller is asked
			w.agents[seat], _ = m[k].Agent(stream(1 << 62))
		}
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
			w.made = append(w.made, m[seat])
		}
	}
	return m
}

func (w *twin) step(actions []env.Action, out *vec.Batch) {
	w.made = nil
	defer func() { w.tell(out.Moves) }()
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
			w.illegal++
		}
	}
	w.played = append(w.played, m)
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
	if w.cut || w.s.Acting() == 0 {
		w.tally()
	}
	if w.c.Autoreset == vec.SameStep && (w.cut || w.s.Acting() == 0) {
		w.look(out.FinalPlanes, out.FinalGlobals, out.FinalSeat, out.FinalLegal, out.FinalOpponent)
		w.episode++
		w.begin()
		w.look(out.Planes, out.Globals, out.Seat, out.Legal, out.Opponent)
	}
}

// climb notes the result of the episode, which is over, against the best agent, and goes to another rung if it is time.
func (w *twin) climb() {
	c := w.c.Curriculum
	if c == nil || w.cut {
		return
	}
	own, result := w.s.Result(w.players()[0]), 2
	for seat, agent := range w.agents {
		if agent != nil && w.s.Result(seat) >= own {
			result = min(result, 1)
		}
		if agent != nil && w.s.Result(seat) > own {
			result = 0
		}
	}
	w.place.Last = append(w.place.Last, uint8(result))
	w.place.Last = w.place.Last[max(0, len(w.place.Last)-c.Of):]
	sum := 0.0
	for _, r := range w.place.Last {
		sum += float64(r)
	}
	to := w.place.Rung
	if share := sum / float64(2*c.Of); len(w.place.Last) == c.Of && share >= c.Up {
		to = min(to+1, 2)
	} else if len(w.place.Last) == c.Of && share < c.Down {
		to = max(to-1, 0)
	}
	if to != w.place.Rung {
		w.place = vec.Place{Rung: to}
	}
}

// tell writes the moves that agents made in the last step.
func (w *twin) tell(slab []uint16) {
	if slab != nil {
		row := make([]uint16, vec.MovesLen)
		row[0] = uint16(len(w.made))
		for k, a := range w.made[:min(len(w.made), vec.MovesLen-1)] {
			row[k+1] = uint16(a)
		}
		copy(slab[w.at*vec.MovesLen:], row)
	}
}

// tally counts the episode, which has ended, for every driven seat and every agent.
func (w *twin) tally() {
	w.climb()
	for seat, agent := range w.agents {
		if agent == nil {
			continue
		}
		t := w.tallies[w.opponents[seat]]
		for _, own := range w.players() {
			diff := w.s.Result(own) - w.s.Result(seat)
			switch {
			case w.cut:
				t.Truncated++
			case diff > 0:
				t.Wins++
			case diff < 0:
				t.Losses++
			default:
				t.Draws++
			}
		}
		w.tallies[w.opponents[seat]] = t
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
	w.look(out.Planes, out.Globals, out.Seat, out.Legal, out.Opponent)
	copy(out.Reward[w.at*w.c.Seats:], reward)
	copy(out.Score[w.at*w.c.Seats:], w.scores())
	if out.Moves != nil {
		clear(out.Moves[w.at*vec.MovesLen : (w.at+1)*vec.MovesLen])
	}
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

// look writes the rows, and the IDs of the agents if there are any.
func (w *twin) look(planes []uint8, globals []float32, seats, legal []uint8, opponents []uint16) {
	if opponents != nil {
		copy(opponents[w.at*w.c.Seats:], w.opponents)
	}
	for r, seat := range w.seats {
		row := w.at*w.rows + r
		p, q, mask := make([]uint8, w.g.Planes.Len()), make([]float32, w.g.Globals()), make([]uint8, w.g.MaskLen())
		if seats[row] = uint8(seat); seat >= 0 { // of -1 it is vec.NoSeat
			for _, a := range w.s.Legal(seat, nil) {
				mask[a/8] += 1 << (a % 8)
			}
		}
		if w.c.Rows == vec.SeatRows {
			seat = w.players()[r]
		}
		if seat >= 0 {
			w.s.Observe(seat, p, q)
		}
		copy(planes[row*len(p):], p)
		copy(globals[row*len(q):], q)
		copy(legal[row*len(mask):], mask)
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
	p := like("toy:pause", func(s toy.State) env.State { return &pause{s} })
	all := append([]*env.Game{toy.Pick, toy.Turns, p}, games.All...)
	if testing.Short() {
		return all[:4] // goroutines do the same whatever the game is
	}
	return all
}

// twinConfigs are the ways to drive a game that the twin judges.
func twinConfigs(g *env.Game) map[string]vec.Config {
	var first, last []vec.AgentFactory
	if g.MinSeats > 1 { // else the caller has the only seat
		first, last = make([]vec.AgentFactory, g.MinSeats), make([]vec.AgentFactory, g.MinSeats)
		first[0], last[g.MinSeats-1] = newDie, newDie
	}
	var mixtures [2][]vec.Mixture
	for k := range mixtures {
		if g.MinSeats > 1 {
			mixtures[k] = make([]vec.Mixture, g.MinSeats)
			mixtures[k][k*(g.MinSeats-1)] = vec.Mixture{{newDie, 0.5, 9}, {newLow, 2, 300}, {newDie, 1.5, 2}}
			if g.MinSeats > 2 {
				mixtures[k][1] = vec.Mixture{{newLow, 1, 2}, {newDie, 1, 300}, {newMiddle, 1, 9}}
			}
		}
	}
	shaped := vec.RewardShaped
	if g.Potential == nil {
		shaped = vec.RewardDefault
	}
	all := map[string]vec.Config{
		"shaped":            {Reward: shaped, StepLimit: 7},
		"shaped, same step": {Reward: shaped, StepLimit: 8, Autoreset: vec.SameStep, Agents: last},
		"mixture":           {Mixtures: mixtures[0], StepLimit: 6},
		"mixture, at once":  {Mixtures: mixtures[1], StepLimit: 3, Autoreset: vec.SameStep},
		"score":             {Reward: vec.RewardScore, Autoreset: vec.SameStep},
		"limit, same step":  {StepLimit: 4, Autoreset: vec.SameStep, Agents: first},
		"agent first":       {Agents: first, Reward: vec.RewardScore},
		"agent last":        {Agents: last, Autoreset: vec.SameStep},
		"disabled":          {Autoreset: vec.Disabled, Agents: last, StepLimit: 9},
		"penalty":           {Illegal: vec.Penalty},
		"penalty, disabled": {Illegal: vec.Penalty, Autoreset: vec.Disabled, StepLimit: 7},
	}
	if g.MinSeats > 1 {
		all["curriculum"] = vec.Config{Mixtures: mixtures[0], Autoreset: vec.SameStep, StepLimit: 9,
			Curriculum: &vec.Curriculum{Of: 2, Up: 0.75, Down: 0.5}}
	}
	return all
}

// seatCounts returns the fewest and the most seats of a game, and one more than the fewest.
func seatCounts(g *env.Game) []int {
	return slices.Compact([]int{g.MinSeats, min(g.MinSeats+1, g.MaxSeats), g.MaxSeats})
}

// TestTwin plays random games, every way there is, beside the obvious implementation: every slab is equal after every
// step, and so are the actions that are drawn for both forms of rows.
func TestTwin(t *testing.T) {
	seed := envtest.Seed(t)
	for _, g := range allGames() {
		for name, c := range twinConfigs(g) {
			for _, seats := range seatCounts(g) {
				t.Run(fmt.Sprintf("%s/%s/%d seats", g.Name, name, seats), func(t *testing.T) {
					c.Envs, c.Seats, c.Workers = 5, seats, 3
					c.Rows = vec.SeatRows
					played := compare(t, g, c, seed)
					c.Rows = vec.ActingRows
					require.Equal(t, played, compare(t, g, c, seed))
				})
			}
		}
	}
}

// A seat that is asked of the caller is played as one whose agent gives the same answers.
func TestTwinOfAskedSeats(t *testing.T) {
	askedSeats(t, func(t *testing.T, g *env.Game, c vec.Config) { compare(t, g, c, 3) })
}

// A trial is a few environments beside their twins. They are traced, and asked seats are answered.
type trial struct {
	*testing.T
	e            *vec.Env
	stream       *vec.Stream // nil under Disabled: all environments are reset together
	twins        []*twin
	got, want    *vec.Batch
	actions      []env.Action
	tracer       *notebook
	ended, asked int // episodes that were traced, and answers
}

// compare plays one game beside twins and returns what driven seats played.
func compare(t *testing.T, g *env.Game, c vec.Config, seed uint64) (played [][]env.Moves) {
	e, _, actions := open(t, g, c)
	tr := &trial{T: t, e: e, got: everything(t, e), want: everything(t, e), actions: actions, tracer: newNotebook(g, c.Seats)}
	require.Equal(t, c.Autoreset == vec.SameStep, tr.got.FinalPlanes != nil)
	require.LessOrEqual(t, e.Rows(), c.Seats)
	if c.Rows == vec.ActingRows {
		require.LessOrEqual(t, e.Rows(), g.Rows)
	}
	if c.Autoreset != vec.Disabled {
		tr.stream = streamOf(t, e, tr.got)
	}
	c.Mixtures, c.Reward = e.Config().Mixtures, e.Config().Reward
	for i := range c.Envs {
		w := &twin{g: g, c: c, at: i, rows: e.Rows(), tallies: map[uint16]vec.Tally{}}
		w.reset(seed + uint64(i))
		w.write(tr.want, make([]float32, c.Seats))
		tr.twins = append(tr.twins, w)
	}
	e.Trace(tr.tracer)
	require.NoError(t, e.Reset(vec.From(seed), nil, tr.got))
	tr.asked = completed(t, e, actions, tr.got)
	require.Equal(t, tr.want, tr.got)
	require.Len(t, tr.tracer.pages, c.Envs)
	rng := rand.New(rand.NewPCG(seed, 1))
	for step := range 100 {
		if tr.stream == nil {
			tr.resetEnded()
		} else if step%10 == 9 {
			tr.streamed(rng)
			require.Equal(t, tr.want, tr.got, "stream before step %d", step)
		}
		tr.step(rng)
		require.Equal(t, tr.want, tr.got, "step %d", step)
	}
	require.Empty(t, tr.tracer.wrong)
	require.Equal(t, tr.ended, tr.tracer.ended)
	asks := func(m vec.Mixture) bool {
		return slices.ContainsFunc(m, func(c vec.Choice) bool { return c.Agent == nil })
	}
	require.Equal(t, slices.ContainsFunc(c.Mixtures, asks), tr.asked > 0)
	illegal, _ := e.Counted()
	for _, w := range tr.twins {
		played = append(played, w.played)
		illegal -= w.illegal
		require.Len(t, e.TalliesOf(w.at), len(w.tallies))
		for _, got := range e.TalliesOf(w.at) {
			require.Equal(t, w.tallies[got.ID], got.Tally)
		}
		_, at := e.Curriculum(w.at)
		require.Equal(t, w.place.Rung, at.Rung)
		require.Equal(t, string(w.place.Last), string(at.Last))
	}
	require.Zero(t, illegal)
	return played
}

// step steps all environments with the actions that they draw. Rows that wait get others, which are ignored; under
// Penalty, an acting one does too.
func (tr *trial) step(rng *rand.Rand) {
	require.NoError(tr, tr.e.Sample(tr.actions))
	i, seat, illegal := rng.IntN(len(tr.twins)), uint8(rng.IntN(tr.e.Config().Seats)), env.Action(rng.IntN(1<<16))
	for row, acting := range tr.want.Seat {
		if acting == vec.NoSeat {
			require.Zero(tr, tr.actions[row])
			tr.actions[row] = illegal
		} else if tr.e.Config().Illegal == vec.Penalty && row/tr.e.Rows() == i && acting == seat {
			tr.actions[row] = illegal
		}
	}
	traced := maps.Clone(tr.tracer.pages)
	require.NoError(tr, tr.e.Step(tr.actions, tr.got))
	tr.asked += completed(tr.T, tr.e, tr.actions, tr.got)
	for i, w := range tr.twins {
		w.step(tr.actions, tr.want)
		tr.count(i, traced[i] != nil)
	}
}

// count counts the episode of environment i if it has just ended.
func (tr *trial) count(i int, traced bool) {
	if traced {
		tr.ended += int(tr.got.Terminated[i] | tr.got.Truncated[i])
	}
}

// streamed steps every environment three times, in random subsets.
func (tr *trial) streamed(rng *rand.Rand) {
	const steps = 3
	n, rows, waited := len(tr.twins), tr.e.Rows(), 0
	before, _, _ := tr.stream.Work()
	idle, taken, traced := numbers(n), make([]int, n), make([]bool, n)
	send := func(some []uint32) {
		var actions []env.Action
		for _, i := range some {
			actions = append(actions, tr.actions[int(i)*rows:(int(i)+1)*rows]...)
		}
		require.NoError(tr, tr.stream.Send(some, actions))
	}
	random := rand.New(rand.NewPCG(rng.Uint64(), 1)) // how often it is used depends on when steps end
	for left := steps * n; left > 0; {
		random.Shuffle(len(idle), func(a, b int) { idle[a], idle[b] = idle[b], idle[a] })
		k := random.IntN(len(idle) + 1)
		for _, i := range idle[:k] {
			tr.choose(int(i))
			traced[i] = tr.tracer.traces(int(i))
		}
		send(idle[:k])
		idle = idle[k:]
		least := 1 + random.IntN(n)
		away, _ := tr.stream.InFlight()
		back := received(tr, tr.stream, least)
		require.GreaterOrEqual(tr, len(back), min(least, away))
		for _, i := range back {
			again := tr.e.Waits(int(i))
			tr.asked += answerAll(tr, tr.e, []int{int(i)})
			if again {
				send([]uint32{i})
				waited++
				continue
			}
			tr.twins[i].step(tr.actions, tr.want)
			tr.count(int(i), traced[i])
			left--
			if taken[i]++; taken[i] < steps {
				idle = append(idle, i)
			}
		}
	}
	away, done := tr.stream.InFlight()
	require.Zero(tr, away+done)
	after, busy, workers := tr.stream.Work()
	require.EqualValues(tr, steps*n+waited, after-before)
	require.Positive(tr, busy)
	require.Equal(tr, 3, workers)
}

// choose chooses the actions of environment i, the same ones in both forms of rows, some illegal if that is allowed.
func (tr *trial) choose(i int) {
	played := len(tr.twins[i].played)
	for r := range tr.e.Rows() {
		row := i*tr.e.Rows() + r
		tr.actions[row] = 60000
		if legal := tr.e.Legal(i, r, nil); len(legal) > 0 && (tr.e.Config().Illegal == vec.Refuse || played%4 > 0) {
			tr.actions[row] = legal[(played+tr.e.Seat(i, r))%len(legal)]
		}
	}
}

// resetEnded resets what has ended, and no more, on both sides.
func (tr *trial) resetEnded() {
	ended := make([]bool, len(tr.twins))
	for i, w := range tr.twins {
		ended[i] = w.cut || w.s.Acting() == 0
		require.Equal(tr, ended[i], tr.e.Ended(i))
		if ended[i] {
			w.episode++
			w.begin()
		}
		w.write(tr.want, make([]float32, w.c.Seats))
	}
	if slices.Contains(ended, true) {
		require.NoError(tr, tr.e.Reset(vec.Seeds{}, ended, tr.got))
		require.Equal(tr, tr.want, tr.got)
	}
}
