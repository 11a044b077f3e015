package recorder

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
)

// recorder records toy.Pick with room for so many bytes.
func recorder(envs int, every uint64, memory int64) *Recorder {
	return NewRecorder(Options{Game: toy.Pick, Envs: envs, Every: every, Memory: memory, Largest: memory,
		Players: func(int) []string { return []string{"a", "b"} }})
}

// play plays n steps of game i on a position, as vec.Env tells a Tracer: seat 0 takes the most that a card offers,
// seat 1 the least.
func play(r *Recorder, s env.State, i, n int) {
	for range n {
		legal := s.Legal(0, nil)
		moves := env.NoMoves
		moves[0], moves[1] = legal[len(legal)-1], legal[0]
		r.Move(i, s.Acting(), moves)
		s.Step(moves)
	}
}

// whole plays an episode of game i to its end.
func whole(t *testing.T, r *Recorder, i int, episode, seed uint64) {
	s := envtest.Start[env.State](toy.Pick, 2, seed)
	require.True(t, r.Begin(i, episode, seed))
	for s.Acting() != 0 {
		play(r, s, i, 1)
	}
	r.End(i, s)
}

// taken ends a step and takes its records.
func taken(r *Recorder) Batch {
	r.Settle()
	return r.Take(1 << 20)
}

// read returns the records of lines, which must be what the rules say.
func read(t *testing.T, lines []byte) (all []*record.Record) {
	r := envtest.Must(record.NewReader("records", bytes.NewReader(lines)))
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		require.NoError(t, record.Check(toy.Pick, rec))
		all = append(all, rec)
	}
}

// Records of a step come in the order of the games, each whole and once, in batches that fit.
func TestRecordsAreTakenOnce(t *testing.T) {
	r := recorder(3, 1, 1<<20)
	for _, i := range []int{2, 0, 1} { // the order in which workers finish
		whole(t, r, i, 4, uint64(i))
	}
	require.Zero(t, r.Fitting(1<<20), "the step is not over")
	r.Settle()
	two := r.Fitting(r.Fitting(1<<20) - 1)
	first := r.Take(two)
	require.Equal(t, []int{2, 1}, []int{first.Count, first.Waiting})
	require.Len(t, first.Lines, two)
	last := r.Take(r.Fitting(1))
	require.Equal(t, 1, last.Count, "a record that is larger than wanted comes alone")
	require.Equal(t, []uint64{3, 0, 0}, []uint64{last.Finished, last.Dropped, last.Interrupted})
	for i, rec := range append(read(t, first.Lines), read(t, last.Lines)...) {
		require.EqualValues(t, i, rec.Seed)
		require.Equal(t, map[string]string{"env": string(rune('0' + i)), "episode": "4"}, rec.Meta)
	}
	require.Zero(t, r.used)
	require.Zero(t, r.Take(1<<20).Count)
}

// One of so many episodes is recorded, counted over the games and over the episodes of each.
func TestOneOfSoManyEpisodes(t *testing.T) {
	r := recorder(6, 3, 1<<20)
	r.First, r.Chosen = 1, []bool{true, true, true, true, true, false}
	var chosen [][2]int
	for i := range r.Envs {
		for episode := range 3 {
			if r.Begin(i, uint64(episode), 1) {
				chosen = append(chosen, [2]int{i, episode})
				r.Drop(i)
			}
		}
	}
	require.Equal(t, [][2]int{{0, 2}, {1, 1}, {2, 0}, {3, 2}, {4, 1}}, chosen)
	require.EqualValues(t, 5, r.Take(0).Interrupted)
	require.Zero(t, r.used)
}

// Where there is no room the oldest finished records go first, then the episode in progress; every one is counted.
func TestMemoryOfRecordsIsBounded(t *testing.T) {
	r := recorder(1, 1, 2<<10)
	for seed := range uint64(9) {
		whole(t, r, 0, seed, seed)
		r.Settle()
		require.LessOrEqual(t, r.used, r.Memory)
	}
	out := r.Take(1 << 20)
	require.Positive(t, out.Dropped)
	require.EqualValues(t, 9, out.Count+int(out.Dropped))
	require.EqualValues(t, 8, read(t, out.Lines)[out.Count-1].Seed, "the newest are kept")

	small := recorder(2, 1, runningSize+2*firstChoices)
	require.True(t, small.Begin(0, 0, 1))
	require.False(t, small.Begin(1, 0, 1), "there is room for one")
	s := toy.Pick.New(2)
	for n := 0; n < firstChoices; n += toy.Length { // more choices than there is room for
		s.Reset(2)
		play(small, s, 0, 7)
	}
	small.End(0, s)
	out = taken(small)
	require.Equal(t, []uint64{0, 2}, []uint64{out.Finished, out.Dropped})
	require.Zero(t, small.used)
}

// An episode in progress goes on in another recorder, and its record is that of one that was not interrupted.
func TestAnEpisodeGoesOnElsewhere(t *testing.T) {
	one, other := recorder(2, 1, 1<<20), recorder(2, 1, 1<<20)
	s := envtest.Start[env.State](toy.Pick, 2, 5)
	require.True(t, one.Begin(1, 3, 5))
	play(one, s, 1, 3)
	lines := envtest.Must(one.AppendRecording(nil, 1))
	none := envtest.Must(one.AppendRecording(nil, 0))
	require.Empty(t, none, "game 0 is not recorded")
	all := envtest.Must(ReadRecordings(lines, []int{0, 1}, 2))
	other.Continue(all, func(int) bool { return true })
	for s.Acting() != 0 {
		play(other, s, 1, 1)
	}
	other.End(1, s)
	whole(t, one, 0, 3, 5)
	one.Stop()
	got, want := read(t, taken(other).Lines), read(t, one.Take(1<<20).Lines)
	require.Len(t, want, 1)
	want[0].Meta["env"] = "1"
	require.Equal(t, want, got)

	for want, list := range map[string][]int{"entry 1: game 1 is not resumed": {0}, "entry 2: game 1 is not resumed, or has two": {1}} {
		require.ErrorContains(t, envtest.Failed(ReadRecordings(append(lines, lines...), list, 2)), want)
	}
	require.ErrorContains(t, envtest.Failed(ReadRecordings(lines, []int{1}, 3)), "entry 1: 2 agents, want 3")
	other.Continue(all, func(int) bool { return false })
	require.Zero(t, other.used, "a game that is not traced takes nothing")
}

// A recording that goes on elsewhere, at an earlier position, does not make again what the client has.
func TestRecordsThatTheClientHas(t *testing.T) {
	one := recorder(2, 1, 1<<20)
	whole(t, one, 0, 0, 1)
	first := taken(one)
	require.Equal(t, []uint32{1, 0}, first.Given)
	lines, err := one.AppendRecording(nil, 0)
	require.NoError(t, err, "here is its checkpoint, between two episodes")
	whole(t, one, 0, 1, 2)
	whole(t, one, 1, 0, 3)
	one.Settle()
	second := one.Take(1)
	require.Equal(t, []uint32{1, 0}, second.Given, "nothing fits")
	second = one.Take(one.Fitting(1))
	require.Equal(t, []uint32{2, 0}, second.Given)
	require.Equal(t, 1, second.Waiting)

	o := one.Options
	o.Before = Before{Given: second.Given, Dropped: 5, Interrupted: 6}
	other := NewRecorder(o)
	all := envtest.Must(ReadRecordings(lines, []int{0, 1}, 2))
	other.Continue(all, func(int) bool { return true })
	whole(t, other, 0, 1, 2)
	whole(t, other, 1, 0, 3)
	whole(t, other, 0, 2, 4)
	rest := taken(other)
	require.Equal(t, []uint32{3, 1}, rest.Given)
	require.Equal(t, []uint64{2, 5, 6}, []uint64{rest.Finished, rest.Dropped, rest.Interrupted})
	got := read(t, append(append(first.Lines, second.Lines...), rest.Lines...))
	require.Len(t, got, 4)
	for k, seed := range []uint64{1, 2, 4, 3} { // in each step by game
		require.Equal(t, seed, got[k].Seed)
	}
}

// A record grows with its game, a long one over several lines, unless it is given up.
func TestRecordsOfLongGames(t *testing.T) {
	for memory, count := range map[int64]int{1 << 10: 0, 4 << 20: 1} {
		r, s := recorder(1, 1, memory), toy.Pick.New(2)
		require.True(t, r.Begin(0, 0, 1))
		for range 50_000 {
			s.Reset(1)
			play(r, s, 0, 2)
		}
		r.End(0, s)
		out := taken(r)
		require.Equal(t, []int{count, 1 - count}, []int{out.Count, int(out.Dropped)})
		require.Zero(t, r.used)
		require.Equal(t, count == 1, bytes.Count(out.Lines, []byte("\n")) > 1)
		if count == 1 {
			lines := envtest.Must(record.NewReader("records", bytes.NewReader(out.Lines)))
			rec := envtest.Must(lines.Read())
			require.Len(t, rec.Choices, 2*2*50_000)
			require.True(t, rec.Stopped)
		}
	}
}
