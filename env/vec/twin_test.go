package vec_test

import (
	"cmp"
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
	driven        []int    // seats without an agent
	opponents     []uint16 // IDs of the agents
	steps         int
	seats         []int // by row: the seat that must act, -1 for none
	over, cut     bool
	played        []env.Moves // by driven seats
	illegal       uint64
	made          []uint16 // by agents in this step
	place         vec.Place
	tallies       map[uint16]vec.Tally
}

func (w *twin) begin(episode uint64) {
	w.episode, w.s = episode, w.g.New(w.c.Seats)
	seed := w.seed
	if episode > 0 {
		seed = env.Derive(seed, episode)
	}
	w.s.Reset(seed)
	w.agents, w.opponents = make([]env.Agent, w.c.Seats), slices.Repeat([]uint16{vec.NoOpponent}, w.c.Seats)
	w.driven = nil
	for seat, m := range w.c.Mixtures {
		if len(m) == 0 {
			w.driven = append(w.driven, seat)
			continue
		}
		stream := func(kind uint64) uint64 { return env.Derive(env.Derive(w.seed, kind+episode), uint64(seat)) }
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

// play lets agents move until a driven seat must or the game is over, and gives out the rows.
func (w *twin) play() {
	acts := func(seat int) bool { return w.s.Acting().Has(seat) }
	for w.s.Acting() != 0 && !slices.ContainsFunc(w.driven, acts) {
		w.s.Step(w.fill(env.NoMoves))
	}
	w.over = w.s.Acting() == 0
	if w.over && w.c.Rows == vec.ActingRows {
		return // rows keep their seats
	}
	var seats []int
	for _, seat := range w.driven {
		if acts(seat) {
			seats = append(seats, seat)
		} else if w.c.Rows == vec.SeatRows {
			seats = append(seats, -1)
		}
	}
	w.seats = append(seats, slices.Repeat([]int{-1}, w.rows-len(seats))...)
}

// fill adds the agents' choices to m.
func (w *twin) fill(m env.Moves) env.Moves {
	for seat, a := range w.agents {
		if a != nil && w.s.Acting().Has(seat) {
			m[seat], _ = a.Act(context.Background(), w.s, seat)
			w.made = append(w.made, uint16(m[seat]))
		}
	}
	return m
}

// step takes a step, the first of an episode too, and writes what it comes to.
func (w *twin) step(actions []env.Action, out *vec.Batch) {
	w.made = nil
	reward, bad := make([]float32, w.c.Seats), make([]uint8, w.rows)
	if w.over || w.cut {
		w.begin(w.episode + 1)
	} else {
		w.move(actions[w.at*w.rows:], bad, reward)
	}
	w.write(out, reward)
	into(out.Illegal, w.at, bad)
	if w.steps > 0 && (w.over || w.cut) {
		w.tally()
		if w.c.Autoreset == vec.SameStep {
			w.look(&vec.Batch{Planes: out.FinalPlanes, Globals: out.FinalGlobals, Seat: out.FinalSeat, Legal: out.FinalLegal,
				Opponent: out.FinalOpponent})
			w.begin(w.episode + 1)
			w.look(out)
		}
	}
	made := append([]uint16{uint16(len(w.made))}, w.made...)
	into(out.Moves, w.at, append(made, make([]uint16, vec.MovesLen)...)[:vec.MovesLen])
}

// move plays the actions of the rows, and sets which of them are illegal, and the rewards.
func (w *twin) move(actions []env.Action, bad []uint8, reward []float32) {
	m := env.NoMoves
	for r, seat := range w.seats {
		switch a := actions[r]; {
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
	w.cut = !w.over && w.steps == w.c.StepLimit
	for seat := range reward {
		switch reward[seat] = w.s.Result(seat); w.c.Reward {
		case vec.RewardScore:
			reward[seat] = float32(w.scores()[seat] - before[seat])
		case vec.RewardShaped:
			reward[seat] += float32(0.99*w.potentials()[seat] - was[seat])
		}
	}
}

// tally counts the episode, which has ended, for every driven seat and every agent.
func (w *twin) tally() {
	result := 2 // of the first driven seat against the best agent: win, draw or loss
	for seat, agent := range w.agents {
		if agent == nil {
			continue
		}
		t := w.tallies[w.opponents[seat]]
		for k, own := range w.driven {
			versus := 1 + cmp.Compare(w.s.Result(own), w.s.Result(seat))
			count := []*uint64{&t.Losses, &t.Draws, &t.Wins}[versus]
			if w.cut {
				count = &t.Truncated
			}
			*count++
			if k == 0 {
				result = min(result, versus)
			}
		}
		w.tallies[w.opponents[seat]] = t
	}
	if w.c.Curriculum != nil && !w.cut {
		w.climb(result)
	}
}

// climb notes the result of an episode, and goes to another rung if it is time.
func (w *twin) climb(result int) {
	c, last := w.c.Curriculum, append(w.place.Last, uint8(result))
	last = last[max(0, len(last)-c.Of):]
	sum, to := 0.0, w.place.Rung
	for _, r := range last {
		sum += float64(r)
	}
	switch share := sum / float64(2*c.Of); {
	case len(last) < c.Of:
	case share >= c.Up:
		to = min(to+1, 2)
	case share < c.Down:
		to = max(to-1, 0)
	}
	if w.place.Last = last; to != w.place.Rung {
		w.place = vec.Place{Rung: to}
	}
}

func (w *twin) scores() (scores []int32) {
	for seat := range w.c.Seats {
		scores = append(scores, int32(w.s.Score(seat)))
	}
	return scores
}

// potentials returns the potential of the position for each seat.
func (w *twin) potentials() []float64 {
	all := make([]float64, w.c.Seats)
	for seat := range all {
		_, q := w.observed(seat)
		for _, t := range w.g.Potential {
			all[seat] += t.Weight * float64(q[slices.Index(w.g.GlobalNames, t.Global)])
		}
		if all[seat] = math.Tanh(all[seat]); w.over {
			all[seat] = 0
		}
	}
	return all
}

// observed is what a seat observes, or zeros for -1.
func (w *twin) observed(seat int) (planes []uint8, globals []float32) {
	planes, globals = make([]uint8, w.g.Planes.Len()), make([]float32, w.g.Globals())
	if seat >= 0 {
		w.s.Observe(seat, planes, globals)
	}
	return planes, globals
}

// write writes the position as it stands, after no moves of agents.
func (w *twin) write(out *vec.Batch, reward []float32) {
	w.look(out)
	into(out.Reward, w.at, reward)
	into(out.Score, w.at, w.scores())
	into(out.Moves, w.at, make([]uint16, vec.MovesLen))
	into(out.Illegal, w.at, make([]uint8, w.rows))
	flags := map[bool]uint8{true: 1}
	out.Terminated[w.at], out.Truncated[w.at] = flags[w.over], flags[w.cut]
}

// into writes part k of a slab, if there is one, of parts of equal lengths.
func into[T any](slab []T, k int, part []T) {
	if slab != nil {
		copy(slab[k*len(part):], part)
	}
}

// look writes the rows, and the IDs of the agents.
func (w *twin) look(out *vec.Batch) {
	into(out.Opponent, w.at, w.opponents)
	for r, seat := range w.seats {
		row, mask := w.at*w.rows+r, make([]uint8, w.g.MaskLen())
		if out.Seat[row] = uint8(seat); seat >= 0 { // of -1 it is vec.NoSeat
			for _, a := range w.s.Legal(seat, nil) {
				mask[a/8] += 1 << (a % 8)
			}
		}
		if w.c.Rows == vec.SeatRows {
			seat = w.driven[r]
		}
		p, q := w.observed(seat)
		into(out.Planes, row, p)
		into(out.Globals, row, q)
		into(out.Legal, row, mask)
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
	n, shaped := g.MinSeats, vec.RewardShaped
	if g.Potential == nil {
		shaped = vec.RewardDefault
	}
	first, last := make([]vec.AgentFactory, n), make([]vec.AgentFactory, n)
	low, high := make([]vec.Mixture, n), make([]vec.Mixture, n)
	if n > 1 { // else the caller has the only seat
		first[0], last[n-1] = newDie, newDie
		low[0] = vec.Mixture{{newDie, 0.5, 9}, {newLow, 2, 300}, {newDie, 1.5, 2}}
		high[n-1] = low[0]
	}
	if n > 2 {
		low[1] = vec.Mixture{{newLow, 1, 2}, {newDie, 1, 300}, {newMiddle, 1, 9}}
		high[1] = low[1]
	}
	all := map[string]vec.Config{
		"shaped":            {Reward: shaped, StepLimit: 7},
		"shaped, same step": {Reward: shaped, StepLimit: 8, Autoreset: vec.SameStep, Agents: last},
		"mixture":           {Mixtures: low, StepLimit: 6},
		"mixture, at once":  {Mixtures: high, StepLimit: 3, Autoreset: vec.SameStep},
		"score":             {Reward: vec.RewardScore, Autoreset: vec.SameStep},
		"limit, same step":  {StepLimit: 4, Autoreset: vec.SameStep, Agents: first},
		"agent first":       {Agents: first, Reward: vec.RewardScore},
		"agent last":        {Agents: last, Autoreset: vec.SameStep},
		"disabled":          {Autoreset: vec.Disabled, Agents: last, StepLimit: 9},
		"penalty":           {Illegal: vec.Penalty},
		"penalty, disabled": {Illegal: vec.Penalty, Autoreset: vec.Disabled, StepLimit: 7},
	}
	if n > 1 {
		all["curriculum"] = vec.Config{Mixtures: low, Autoreset: vec.SameStep, StepLimit: 9,
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
		tr.stream = streamOf(e, tr.got)
	}
	c.Reward = e.Config().Reward
	c.Mixtures = append(slices.Clone(e.Config().Mixtures), make([]vec.Mixture, c.Seats)...)[:c.Seats]
	for i := range c.Envs {
		w := &twin{g: g, c: c, at: i, rows: e.Rows(), seed: seed + uint64(i), tallies: map[uint16]vec.Tally{}}
		w.begin(0)
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
		}
		require.Equal(t, tr.want, tr.got, "before step %d", step)
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
	sums := make([]vec.Tally, len(e.Tallies()))
	for _, w := range tr.twins {
		played = append(played, w.played)
		illegal -= w.illegal
		tallies := map[uint16]vec.Tally{}
		for _, got := range e.TalliesOf(w.at) {
			tallies[got.ID] = got.Tally
			sum := &sums[got.ID]
			*sum = vec.Tally{sum.Wins + got.Wins, sum.Draws + got.Draws, sum.Losses + got.Losses, sum.Truncated + got.Truncated}
		}
		require.Equal(t, w.tallies, tallies)
		require.Len(t, e.TalliesOf(w.at), len(tallies))
		at := placeOf(e, w.at)
		require.Equal(t, w.place.Rung, at.Rung)
		require.Equal(t, string(w.place.Last), string(at.Last))
	}
	require.Zero(t, illegal)
	require.Equal(t, sums, e.Tallies())
	e.SetTalliesOf(0, e.TalliesOf(1))
	require.ElementsMatch(t, e.TalliesOf(1), e.TalliesOf(0))
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
		} else if tr.e.Config().Illegal != vec.Penalty || row/tr.e.Rows() != i || acting != seat {
			continue
		}
		tr.actions[row] = illegal
	}
	traced := maps.Clone(tr.tracer.pages)
	require.NoError(tr, tr.e.Step(tr.actions, tr.got))
	tr.asked += completed(tr.T, tr.e, tr.actions, tr.got)
	for i := range tr.twins {
		tr.follow(i, traced[i] != nil)
	}
}

// follow steps the twin of environment i, and counts the episode if it has just ended.
func (tr *trial) follow(i int, traced bool) {
	tr.twins[i].step(tr.actions, tr.want)
	if traced {
		tr.ended += int(tr.got.Terminated[i] | tr.got.Truncated[i])
	}
}

// send sends environments with their actions.
func (tr *trial) send(some ...uint32) {
	var actions []env.Action
	for _, i := range some {
		actions = append(actions, tr.actions[int(i)*tr.e.Rows():(int(i)+1)*tr.e.Rows()]...)
	}
	require.NoError(tr, tr.stream.Send(some, actions))
}

// streamed steps every environment three times, in random subsets.
func (tr *trial) streamed(rng *rand.Rand) {
	const steps = 3
	n, waited := len(tr.twins), 0
	before, _, _ := tr.stream.Work()
	idle, taken, traced := numbers(n), make([]int, n), make([]bool, n)
	random := rand.New(rand.NewPCG(rng.Uint64(), 1)) // how often it is used depends on when steps end
	for left := steps * n; left > 0; {
		random.Shuffle(len(idle), func(a, b int) { idle[a], idle[b] = idle[b], idle[a] })
		k := random.IntN(len(idle) + 1)
		for _, i := range idle[:k] {
			tr.choose(int(i))
			traced[i] = tr.tracer.traces(int(i))
		}
		tr.send(idle[:k]...)
		idle = idle[k:]
		least := 1 + random.IntN(n)
		away, _ := tr.stream.InFlight()
		back := received(tr.stream, least)
		require.GreaterOrEqual(tr, len(back), min(least, away))
		for _, i := range back {
			again := tr.e.Waits(int(i))
			tr.asked += answerAll(tr, tr.e, i)
			if again {
				tr.send(i)
				waited++
				continue
			}
			tr.follow(int(i), traced[i])
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
		ended[i] = w.over || w.cut
		require.Equal(tr, ended[i], tr.e.Ended(i))
		if ended[i] {
			w.begin(w.episode + 1)
		}
		w.write(tr.want, make([]float32, w.c.Seats))
	}
	if slices.Contains(ended, true) {
		require.NoError(tr, tr.e.Reset(vec.Seeds{}, ended, tr.got))
	} else {
		require.NoError(tr, tr.e.Observe(tr.got))
	}
}
