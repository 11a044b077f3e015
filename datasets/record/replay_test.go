package record_test

import (
	"bytes"
	"errors"
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

// A long game is one of toy.Null, which does not end: its record is written in parts.
var null = toy.Null(1)

const longSteps = 250_000

func findNull(string, []string) (*env.Game, error) { return null, nil }

// writeLong plays and writes a game of half a million choices, and then one without any.
func writeLong(t *testing.T, out io.Writer, draws bool) {
	s := null.New(2)
	s.Reset(3)
	long, short := record.New(null, 3, []string{"a", "b"}), record.New(null, 0, []string{"a", "b"})
	short.End(s)
	long.Meta = map[string]string{"k": "v"}
	if draws {
		long.AddDraws(s)
	}
	var legal []env.Action
	for range longSteps {
		m := env.NoMoves
		for seat := range 2 {
			legal = s.Legal(seat, legal[:0])
			m[seat] = legal[len(long.Choices)%7%len(legal)]
		}
		long.Add(s.Acting(), m)
		s.Step(m)
		if draws {
			long.AddDraws(s)
		} else {
			long.Values = append(long.Values, 0.5, 0.5)
		}
	}
	long.End(s)
	w := record.NewWriter(out)
	require.NoError(t, errors.Join(w.Write(long), w.Write(short), w.Close()))
}

func reader(t *testing.T, text []byte) *record.Reader {
	t.Helper()
	r, err := record.NewReader("long", bytes.NewReader(text))
	require.NoError(t, err)
	return r
}

func TestLongGameStreams(t *testing.T) {
	for _, draws := range []bool{false, true} {
		var file, again bytes.Buffer
		writeLong(t, &file, draws)
		require.Greater(t, bytes.Count(file.Bytes(), []byte("\n")), 4)
		r := reader(t, file.Bytes())
		head, err := record.CheckNext(r, findNull)
		require.NoError(t, err)
		require.True(t, head.Stopped)
		require.Less(t, len(head.Choices), longSteps, "the game was held in memory")
		_, err = record.CheckNext(r, findNull)
		require.NoError(t, err)
		_, err = record.CheckNext(r, findNull)
		require.ErrorIs(t, err, io.EOF)

		rec, err := reader(t, file.Bytes()).Read()
		require.NoError(t, err)
		require.Len(t, rec.Choices, 2*longSteps)
		require.Equal(t, "v", rec.Meta["k"])
		require.NoError(t, record.Check(null, rec))
		w := record.NewWriter(&again)
		require.NoError(t, errors.Join(w.Write(rec), w.Close()))
		twin, err := reader(t, again.Bytes()).Read()
		require.NoError(t, err)
		require.Equal(t, rec, twin)
	}
}

func TestLongGameBroken(t *testing.T) {
	var file bytes.Buffer
	writeLong(t, &file, false)
	lines := bytes.SplitAfter(file.Bytes(), []byte("\n"))
	for name, c := range map[string]struct {
		text [][]byte
		want error
	}{
		"a part is missing":       {append([][]byte{lines[0]}, lines[2:]...), record.ErrInvalid},
		"the head is missing":     {lines[1:], record.ErrInvalid},
		"the end is missing":      {lines[:3], record.ErrPartial},
		"a part is cut":           {[][]byte{lines[0], lines[1][:100]}, record.ErrPartial},
		"another game in between": {[][]byte{lines[0], lines[len(lines)-2]}, record.ErrInvalid},
	} {
		text := bytes.Join(c.text, nil)
		_, err := reader(t, text).Read()
		require.ErrorIs(t, err, c.want, name)
		_, err = record.CheckNext(reader(t, text), findNull)
		require.ErrorIs(t, err, c.want, name)
	}
	// A wrong score at the end of a long game is found, and the file read on after it.
	r := reader(t, bytes.Replace(file.Bytes(), []byte(`"scores":[`), []byte(`"scores":[9`), 1))
	_, err := record.CheckNext(r, findNull)
	require.ErrorIs(t, err, record.ErrDiffers)
	_, err = record.CheckNext(r, findNull)
	require.NoError(t, err)
}
