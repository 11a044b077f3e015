package record_test

import (
	"bytes"
	"io"
	"testing"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest/toy"

	"github.com/stretchr/testify/require"
)

func TestReplayYieldsEveryPosition(t *testing.T) {
	for _, g := range toys {
		rec := play(g, 7, false)
		twin := g.New(rec.Seats)
		twin.Reset(7)
		rp := record.NewReplay(g, rec)
		steps := 0
		for s, m := range rp.All() {
			require.Equal(t, twin, s)
			if s.Acting() == 0 {
				require.Equal(t, env.NoMoves, m)
				break
			}
			twin.Step(m)
			steps++
		}
		require.NoError(t, rp.Err())
		require.Equal(t, len(rec.Choices), rp.Ply())
		require.Equal(t, env.Seats(0), twin.Acting())
		require.Positive(t, steps)
	}
}

func TestCheckFindsWhatDiffers(t *testing.T) {
	for name, spoil := range map[string]func(*record.Record){
		"seed":         func(r *record.Record) { r.Seed ^= 1 },
		"rules":        func(r *record.Record) { r.Rules++ },
		"score":        func(r *record.Record) { r.Scores[1]++ },
		"result":       func(r *record.Record) { r.Results[0] = 0.5 },
		"illegal":      func(r *record.Record) { r.Choices[3] = 8888 },
		"choice less":  func(r *record.Record) { r.Choices = r.Choices[:len(r.Choices)-2] },
		"half a step":  func(r *record.Record) { r.Choices = r.Choices[:len(r.Choices)-1] },
		"choice more":  func(r *record.Record) { r.Choices = append(r.Choices, env.None, env.None) },
		"stopped":      func(r *record.Record) { r.Stopped = true },
		"draws more":   func(r *record.Record) { r.Draws = append(r.Draws, []uint16{1}) },
		"step's draws": func(r *record.Record) { r.Draws[1] = append(r.Draws[1], 1, 1, 1) },
		"draw's range": func(r *record.Record) { r.Draws[0][0] = 60000 },
		"game":         func(r *record.Record) { r.Game = "toy:turns" },
		"seats":        func(r *record.Record) { r.Seats = 4 },
		"start":        func(r *record.Record) { r.Start = []byte("nonsense") },
	} {
		rec := play(toy.Pick, 11, true)
		if name == "seed" {
			rec.Draws = nil
		}
		require.NoError(t, record.Check(toy.Pick, rec))
		spoil(rec)
		require.ErrorIs(t, record.Check(toy.Pick, rec), record.ErrDiffers, name)
	}
}

// A game dealt elsewhere replays by its draws, whatever the seed.
func TestDrawsReplayWithoutTheSeed(t *testing.T) {
	for _, g := range toys {
		rec := play(g, 5, true)
		rec.Seed = 99
		require.NoError(t, record.Check(g, rec))
	}
}

func TestStartAndStopped(t *testing.T) {
	for _, draws := range []bool{false, true} {
		whole := play(toy.Turns, 21, draws)
		s := toy.Turns.New(3)
		rp := record.NewReplay(toy.Turns, whole)
		for now := range rp.All() {
			s.CopyFrom(now)
			if rp.Ply() == 3 {
				break
			}
		}
		start, err := env.Encode(nil, s)
		require.NoError(t, err)
		rest := *whole
		rest.Start, rest.Choices, rest.Seed = start, whole.Choices[3:], 0
		if draws {
			rest.Draws = append([][]uint16{{}}, whole.Draws[4:]...)
		}
		require.NoError(t, record.Check(toy.Turns, &rest))

		early := *whole
		early.Choices, early.Draws = whole.Choices[:3], whole.Draws[:min(4, len(whole.Draws))]
		early.End(s)
		require.True(t, early.Stopped)
		require.NoError(t, record.Check(toy.Turns, &early))
		early.Stopped = false
		require.ErrorIs(t, record.Check(toy.Turns, &early), record.ErrDiffers)
	}
}

// endless is a game for one in which every choice scores and only the length ends it.
type endless struct {
	env.Rand
	Left, Sum int64
}

const endlessSteps = 500_000

var endlessGame = &env.Game{
	Name: "endless", Rules: 1, MinSeats: 1, MaxSeats: 1, Rows: 1, Actions: 2, MaxLegal: 2,
	New:  func(int) env.State { return &endless{Left: endlessSteps} },
	Text: func(a env.Action) string { return string('0' + rune(a)) },
}

func (e *endless) Reset(seed uint64) {
	e.Restart(seed)
	e.Left, e.Sum = endlessSteps, 0
	e.End()
}
func (e *endless) Hide(env.Seats, uint64) {}
func (e *endless) CopyFrom(src env.State) { *e = *src.(*endless) }
func (e *endless) Check() error           { return nil }
func (e *endless) SeatCount() int         { return 1 }
func (e *endless) Acting() env.Seats {
	if e.Left == 0 {
		return 0
	}
	return 1
}
func (e *endless) Legal(_ int, dst []env.Action) []env.Action { return append(dst, 0, 1) }
func (e *endless) Step(m env.Moves) {
	e.Begin()
	e.Left--
	e.Sum += int64(m[0]) + int64(e.Draw(3))
	e.End()
}
func (e *endless) Score(int) int                   { return int(e.Sum) }
func (e *endless) Result(int) float32              { return 0 }
func (e *endless) Observe(int, []uint8, []float32) {}
func (e *endless) Show(*env.Frame)                 {}

// writeEndless plays and writes a game of half a million choices.
func writeEndless(t *testing.T, out io.Writer, draws bool) {
	s := &endless{}
	s.Reset(3)
	long := record.New(endlessGame, 3, []string{"a"})
	long.Meta = map[string]string{"k": "v"}
	if draws {
		long.AddDraws(s)
	}
	for s.Acting() != 0 {
		a := env.Alone(0, env.Action(s.Word>>63))
		long.Add(s.Acting(), a)
		s.Step(a)
		if draws {
			long.AddDraws(s)
		} else {
			long.Values = append(long.Values, 0.5)
		}
	}
	long.End(s)
	short := record.New(endlessGame, 0, []string{"a"})
	short.Scores, short.Results, short.Stopped = []int{0}, []float32{0}, true
	w := record.NewWriter(out)
	require.NoError(t, w.Write(long))
	require.NoError(t, w.Write(short))
	require.NoError(t, w.Close())
}

func TestLongGameStreams(t *testing.T) {
	find := func(string, []string) (*env.Game, error) { return endlessGame, nil }
	for _, draws := range []bool{false, true} {
		var file bytes.Buffer
		writeEndless(t, &file, draws)
		require.Greater(t, bytes.Count(file.Bytes(), []byte("\n")), 4)

		r, err := record.NewReader("long", bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		head, err := record.CheckNext(r, find)
		require.NoError(t, err)
		require.Positive(t, head.Scores[0])
		require.Less(t, len(head.Choices), endlessSteps/2, "the game was held in memory")
		_, err = record.CheckNext(r, find)
		require.NoError(t, err)
		_, err = record.CheckNext(r, find)
		require.ErrorIs(t, err, io.EOF)

		r, err = record.NewReader("long", bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		rec, err := r.Read()
		require.NoError(t, err)
		require.Len(t, rec.Choices, endlessSteps)
		require.Equal(t, "v", rec.Meta["k"])
		require.NoError(t, record.Check(endlessGame, rec))

		var again bytes.Buffer
		w := record.NewWriter(&again)
		require.NoError(t, w.Write(rec))
		require.NoError(t, w.Close())
		r, err = record.NewReader("again", &again)
		require.NoError(t, err)
		twin, err := r.Read()
		require.NoError(t, err)
		require.Equal(t, rec, twin)
	}
}

func TestLongGameBroken(t *testing.T) {
	var file bytes.Buffer
	writeEndless(t, &file, false)
	lines := bytes.SplitAfter(file.Bytes(), []byte("\n"))
	find := func(string, []string) (*env.Game, error) { return endlessGame, nil }
	for name, c := range map[string]struct {
		text [][]byte
		want error
	}{
		"a part is missing":       {append([][]byte{lines[0]}, lines[2:]...), record.ErrInvalid},
		"the head is missing":     {lines[1:], record.ErrInvalid},
		"the end is missing":      {lines[:3], record.ErrPartial},
		"a part is cut":           {append([][]byte{lines[0]}, lines[1][:100]), record.ErrPartial},
		"another game in between": {append([][]byte{lines[0]}, lines[len(lines)-2]), record.ErrInvalid},
	} {
		text := bytes.Join(c.text, nil)
		r, err := record.NewReader("long", bytes.NewReader(text))
		require.NoError(t, err)
		_, err = r.Read()
		require.ErrorIs(t, err, c.want, name)
		r, err = record.NewReader("long", bytes.NewReader(text))
		require.NoError(t, err)
		_, err = record.CheckNext(r, find)
		require.ErrorIs(t, err, c.want, name)
	}
	// A wrong score at the end of a long game is found, and the file read on after it.
	last := bytes.Replace(file.Bytes(), []byte(`"scores":[`), []byte(`"scores":[9`), 1)
	r, err := record.NewReader("long", bytes.NewReader(last))
	require.NoError(t, err)
	_, err = record.CheckNext(r, find)
	require.ErrorIs(t, err, record.ErrDiffers)
	_, err = record.CheckNext(r, find)
	require.NoError(t, err)
}
