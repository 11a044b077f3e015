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
		if w.agents[seat] = (middle{}); m[k].Agent != nil { // else the caller is asked
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
	w.look(out.Planes, out.Globals, out.Seat)
	w.masks(out.Legal)
	w.who(out.Opponent)
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
		"all driven":        {},
		"shaped":            {Reward: shaped, StepLimit: 7},
		"shaped, same step": {Reward: shaped, StepLimit: 8, Autoreset: vec.SameStep, Agents: last},
		"mixture":           {Mixtures: mixtures[0], StepLimit: 6},
		"mixture, at once":  {Mixtures: mixtures[1], StepLimit: 3, Autoreset: vec.SameStep},
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
	if g.MinSeats > 1 {
		all["curriculum"] = vec.Config{Mixtures: mixtures[0], Autoreset: vec.SameStep, Curriculum: &vec.Curriculum{Of: 3, Up: 0.6, Down: 0.4}}
	}
	return all
}

// seatCounts returns the fewest and the most seats of a game, and one more than the fewest.
func seatCounts(g *env.Game) []int {
	counts := []int{g.MinSeats, min(g.MinSeats+1, g.MaxSeats), g.MaxSeats}
	return slices.Compact(counts)
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

// compare plays one game beside twins and returns what driven seats played. The environments are traced.
func compare(t *testing.T, g *env.Game, c vec.Config, seed uint64) (played [][]env.Moves) {
	e, _, actions := open(t, g, c)
	l, err := e.Layout()
	require.NoError(t, err)
	var names []string
	for _, f := range l.Fields {
		names = append(names, f.Name)
	}
	if e.Driven().Len() < c.Seats {
		names = append(names, "moves")
	}
	got, err := e.NewBatch(names...)
	require.NoError(t, err)
	want, err := e.NewBatch(names...)
	require.NoError(t, err)
	if c.Autoreset != vec.SameStep {
		require.Nil(t, got.FinalPlanes)
	}
	require.LessOrEqual(t, e.Rows(), c.Seats)
	if c.Rows == vec.ActingRows {
		require.LessOrEqual(t, e.Rows(), g.Rows)
	}
	c.Mixtures, c.Reward = e.Config().Mixtures, e.Config().Reward
	twins := make([]*twin, c.Envs)
	for i := range twins {
		twins[i] = &twin{g: g, c: c, at: i, rows: e.Rows(), tallies: map[uint16]vec.Tally{}}
		twins[i].reset(seed + uint64(i))
		twins[i].write(want, make([]float32, c.Seats))
	}
	tracer, ended := newNotebook(g, c.Seats), 0
	e.Trace(tracer)
	require.NoError(t, e.Reset(vec.From(seed), nil, got))
	asked := completed(t, e, actions, got)
	require.Equal(t, want, got)
	require.Len(t, tracer.pages, c.Envs)
	s := streamOf(t, e, got)
	rng := rand.New(rand.NewPCG(seed, 1))
	for step := range 120 {
		if c.Autoreset == vec.Disabled {
			resetEnded(t, e, twins, want, got)
		} else if step%10 == 9 {
			ended += streamed(t, e, s, twins, tracer, want, got)
			require.Equal(t, want, got, "stream before step %d", step)
		}
		require.NoError(t, e.Sample(actions))
		i, seat, illegal := rng.IntN(c.Envs), uint8(rng.IntN(c.Seats)), env.Action(rng.IntN(1<<16))
		if r := slices.Index(want.Seat[i*e.Rows():(i+1)*e.Rows()], seat); r >= 0 && c.Illegal == vec.Penalty {
			actions[i*e.Rows()+r] = illegal
		}
		for row, seat := range want.Seat {
			if seat == vec.NoSeat {
				require.Zero(t, actions[row])
				actions[row] = illegal
			}
		}
		traced := maps.Clone(tracer.pages)
		require.NoError(t, e.Step(actions, got))
		asked += completed(t, e, actions, got)
		for i, w := range twins {
			w.step(actions, want)
			if traced[i] != nil {
				ended += int(got.Terminated[i] | got.Truncated[i])
			}
		}
		require.Equal(t, want, got, "step %d", step)
	}
	require.Empty(t, tracer.wrong)
	require.Equal(t, ended, tracer.ended)
	illegal, _ := e.Counted()
	for _, w := range twins {
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
	asks := func(m vec.Mixture) bool { return slices.ContainsFunc(m, func(c vec.Choice) bool { return c.Agent == nil }) }
	require.Equal(t, slices.ContainsFunc(c.Mixtures, asks), asked > 0)
	return played
}

// streamed steps every environment three times, in random subsets, and returns how many traced episodes ended.
func streamed(t *testing.T, e *vec.Env, s *vec.Stream, twins []*twin, tracer *notebook, want, got *vec.Batch) (ended int) {
	const steps = 3
	waited := 0
	rng := rand.New(rand.NewPCG(1, twins[0].seed))
	before, _, _ := s.Work()
	idle, taken, rows := []uint32{0, 1, 2, 3, 4}, make([]int, len(twins)), e.Rows()
	actions, traced := make([]env.Action, len(twins)*rows), make([]bool, len(twins))
	for left := steps * len(twins); left > 0; {
		rng.Shuffle(len(idle), func(a, b int) { idle[a], idle[b] = idle[b], idle[a] })
		n := rng.IntN(len(idle) + 1)
		var sent []env.Action
		for _, i := range idle[:n] {
			at, w := int(i)*rows, twins[i]
			for r := range rows {
				actions[at+r] = 60000
				if legal := e.Legal(int(i), r, nil); len(legal) > 0 && (e.Config().Illegal == vec.Refuse || len(w.played)%4 > 0) {
					actions[at+r] = legal[(len(w.played)+e.Seat(int(i), r))%len(legal)]
				}
			}
			sent = append(sent, actions[at:at+rows]...)
			traced[i] = tracer.traces(int(i))
		}
		require.NoError(t, s.Send(idle[:n], sent))
		idle = idle[n:]
		least := 1 + rng.IntN(len(twins))
		away, _ := s.InFlight()
		<-s.Await(least)
		back, err := s.Recv(nil, len(twins))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(back), min(least, away))
		for _, i := range back {
			again := e.Waits(int(i))
			answerAll(t, e, []int{int(i)})
			if again {
				require.NoError(t, s.Send([]uint32{i}, actions[int(i)*rows:(int(i)+1)*rows]))
				waited++
				continue
			}
			twins[i].step(actions, want)
			if traced[i] {
				ended += int(got.Terminated[i] | got.Truncated[i])
			}
			left--
			if taken[i]++; taken[i] < steps {
				idle = append(idle, i)
			}
		}
	}
	away, done := s.InFlight()
	require.Zero(t, away+done)
	after, busy, workers := s.Work()
	require.EqualValues(t, steps*len(twins)+waited, after-before)
	require.Positive(t, busy)
	require.Equal(t, 3, workers)
	return ended
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
