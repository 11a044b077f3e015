package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
)

var toys = []*env.Game{toy.Pick, toy.Turns}

func lookup(name string, _ []string) (*env.Game, error) {
	if k := slices.IndexFunc(toys, func(g *env.Game) bool { return g.Name == name }); k >= 0 {
		return toys[k], nil
	}
	return nil, fmt.Errorf("no game %q", name)
}

// play records a random game of g in which one choice in ten is not made.
func play(g *env.Game, seed uint64, draws bool) *record.Record {
	s := envtest.Start[env.State](g, g.MinSeats, seed)
	names := []string{"a", "b", "c"}[:g.MinSeats]
	rec := record.New(g, seed, names)
	random := env.Rand{Word: seed}
	for {
		if draws {
			rec.AddDraws(s)
		}
		if s.Acting() == 0 {
			rec.End(s)
			return rec
		}
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			legal := s.Legal(set.First(), nil)
			if n := int(random.Next() % uint64(10*len(legal))); n < 9*len(legal) {
				m[set.First()] = legal[n%len(legal)]
			}
		}
		rec.Add(s.Acting(), m)
		s.Step(m)
	}
}

// readAll reads a file, whose end may be cut if partial is set.
func readAll(t *testing.T, path string, partial bool) (out []*record.Record) {
	r := envtest.Must(record.Open(path))
	defer r.Close()
	r.AllowPartial = partial
	for rec, err := range r.All() {
		require.NoError(t, err)
		out = append(out, rec)
	}
	return out
}

// written returns a file of records.
func written(t testing.TB, all ...*record.Record) []byte {
	var out bytes.Buffer
	w := record.NewWriter(&out)
	for _, rec := range all {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestWriteRead(t *testing.T) {
	for _, name := range []string{"games.jsonl", "games.jsonl.gz"} {
		path := filepath.Join(t.TempDir(), name)
		w := envtest.Must(record.Create(path))
		var want []*record.Record
		for seed := range uint64(20) {
			rec := play(toys[seed%2], seed<<60|seed, seed%3 == 0)
			if seed%5 == 0 {
				rec.Values = make([]float32, len(rec.Choices))
				rec.Meta = map[string]string{"match": "final"}
			}
			want = append(want, rec)
			require.NoError(t, w.Write(rec))
		}
		require.ErrorIs(t, envtest.Failed(os.Stat(path)), os.ErrNotExist, "the file takes its name when it is closed")
		require.NoError(t, w.Close())
		require.NoError(t, w.Close())
		require.Equal(t, strings.HasSuffix(name, ".gz"), envtest.Must(os.ReadFile(path))[0] == 0x1f)
		require.Equal(t, want, readAll(t, path, false))
		for _, rec := range want {
			require.NoError(t, record.Check(envtest.Must(lookup(rec.Game, nil)), rec))
		}
		discarded := envtest.Must(record.Create(path + "2"))
		require.NoError(t, discarded.Write(want[0]))
		discarded.Discard()
		require.NoError(t, discarded.Close())
		require.Len(t, envtest.Must(os.ReadDir(filepath.Dir(path))), 1)
	}
}

// A file whose writer was killed at any byte is read up to there, and written on.
func TestAppendAfterAnyCut(t *testing.T) {
	for _, name := range []string{"games.jsonl", "games.jsonl.gz"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		first, second := play(toy.Pick, 1, false), play(toy.Turns, 2, true)
		for _, rec := range []*record.Record{first, second} {
			require.NoError(t, record.AppendTo(path, rec))
		}
		whole := envtest.Must(os.ReadFile(path))
		require.Len(t, readAll(t, path, false), 2)
		for n := 0; n <= len(whole); n += 7 {
			cut := filepath.Join(dir, "cut"+name)
			require.NoError(t, os.WriteFile(cut, whole[:n], 0o644))
			before := readAll(t, cut, true)
			require.NoError(t, record.AppendTo(cut, second), "cut at %d", n)
			require.Equal(t, append(before, second), readAll(t, cut, false), "cut at %d", n)
		}
	}
}

// The last line may lack its end, but nothing more.
func TestPartialLine(t *testing.T) {
	rec := play(toy.Pick, 1, false)
	text := written(t, rec, rec)
	for cut, want := range map[int]error{10: record.ErrPartial, 1: nil, 0: nil} {
		r := reader(text[:len(text)-cut])
		envtest.Must(r.Read())
		_, err := r.Read()
		require.ErrorIs(t, err, want)
		if want != nil {
			require.ErrorContains(t, err, "long:2:")
			continue
		}
		require.ErrorIs(t, envtest.Failed(r.Read()), io.EOF)
	}
}

func TestWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl.gz")
	w := envtest.Must(record.Create(path))
	var wait sync.WaitGroup
	for i := range uint64(8) {
		wait.Go(func() {
			for j := range uint64(20) {
				if err := w.Write(play(toy.Turns, i*100+j, true)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	require.NoError(t, w.Close())
	seen := map[uint64]bool{}
	for _, rec := range readAll(t, path, false) {
		require.NoError(t, record.Check(toy.Turns, rec))
		seen[rec.Seed] = true
	}
	require.Len(t, seen, 160)
	require.ErrorIs(t, errors.Join(w.Write(play(toy.Pick, 1, false)), w.Close()), os.ErrClosed)
}

func TestInvalidRecords(t *testing.T) {
	for name, spoil := range map[string]func(*record.Record){
		"no game":       func(r *record.Record) { r.Game = "" },
		"no seats":      func(r *record.Record) { r.Seats, r.Agents = 0, nil },
		"five seats":    func(r *record.Record) { r.Seats = 5 },
		"an agent less": func(r *record.Record) { r.Agents = r.Agents[1:] },
		"a score less":  func(r *record.Record) { r.Scores = r.Scores[1:] },
		"a result more": func(r *record.Record) { r.Results = append(r.Results, 0) },
		"result of 2":   func(r *record.Record) { r.Results[0] = 2 },
		"result NaN":    func(r *record.Record) { r.Results[0] = float32(math.NaN()) },
		"value more":    func(r *record.Record) { r.Values = make([]float32, len(r.Choices)+1) },
		"value Inf": func(r *record.Record) {
			r.Values = make([]float32, len(r.Choices))
			r.Values[0] = float32(math.Inf(1))
		},
		"too many draws": func(r *record.Record) { r.Draws = [][]uint16{make([]uint16, env.MaxDraws+1)} },
		"a part":         func(r *record.Record) { r.Part = 1 },
	} {
		rec := play(toy.Pick, 3, false)
		spoil(rec)
		require.ErrorIs(t, rec.Validate(), record.ErrInvalid, name)
		require.ErrorIs(t, record.NewWriter(io.Discard).Write(rec), record.ErrInvalid, name)
	}
}

func TestReplayYieldsEveryPosition(t *testing.T) {
	for _, g := range toys {
		rec := play(g, 7, false)
		twin := envtest.Start[env.State](g, rec.Seats, 7)
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
		rec = play(g, 5, true)
		rec.Seed = 99
		require.NoError(t, record.Check(g, rec), "a game dealt elsewhere replays by its draws, whatever the seed")
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
		start := envtest.Must(env.Encode(nil, s))
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
func writeLong(t *testing.T, draws bool) []byte {
	s := envtest.Start[env.State](null, 2, 3)
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
	return written(t, long, short)
}

func reader(text []byte) *record.Reader {
	return envtest.Must(record.NewReader("long", bytes.NewReader(text)))
}

func TestLongGameStreams(t *testing.T) {
	for _, draws := range []bool{false, true} {
		file := writeLong(t, draws)
		require.Greater(t, bytes.Count(file, []byte("\n")), 4)
		r := reader(file)
		head := envtest.Must(record.CheckNext(r, findNull))
		require.True(t, head.Stopped)
		require.Less(t, len(head.Choices), longSteps, "the game was held in memory")
		envtest.Must(record.CheckNext(r, findNull))
		require.ErrorIs(t, envtest.Failed(record.CheckNext(r, findNull)), io.EOF)

		rec := envtest.Must(reader(file).Read())
		require.Len(t, rec.Choices, 2*longSteps)
		require.Equal(t, "v", rec.Meta["k"])
		require.NoError(t, record.Check(null, rec))
		require.Equal(t, rec, envtest.Must(reader(written(t, rec)).Read()))
	}
}

func TestLongGameBroken(t *testing.T) {
	file := writeLong(t, false)
	lines := bytes.SplitAfter(file, []byte("\n"))
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
		require.ErrorIs(t, envtest.Failed(reader(text).Read()), c.want, name)
		require.ErrorIs(t, envtest.Failed(record.CheckNext(reader(text), findNull)), c.want, name)
	}
	// A wrong score at the end of a long game is found, and the file read on after it.
	r := reader(bytes.Replace(file, []byte(`"scores":[`), []byte(`"scores":[9`), 1))
	require.ErrorIs(t, envtest.Failed(record.CheckNext(r, findNull)), record.ErrDiffers)
	envtest.Must(record.CheckNext(r, findNull))
}

// A record of a variant with a table replays with that table only, and so does one that starts in a position of it.
func TestTheTableMustBeThatOfTheRecord(t *testing.T) {
	lines := blocking.DefaultTable.Lines()
	lines[4] = "E 1 4 ####"
	shapes := envtest.Must(blocking.ReadShapes(strings.NewReader(strings.Join(lines, "\n"))))
	g := envtest.Must(blocking.With(blocking.NewTable(shapes)))

	rec := play(g, 3, false)
	require.NoError(t, record.Check(g, rec))

	changed := *rec
	changed.Table = blocking.DefaultTable.Lines()
	require.ErrorContains(t, record.Check(g, &changed), "another table")
	changed.Table = nil
	require.ErrorContains(t, record.Check(g, &changed), "another table")
	changed.Game = "blocking"
	require.ErrorContains(t, record.Check(g, &changed), "the record is of game blocking")

	s := envtest.Start[env.State](g, 2, 3)
	rec.Start = envtest.Must(env.Encode(nil, s))
	require.NoError(t, record.Check(g, rec))
	changed.Start = rec.Start
	require.ErrorContains(t, record.Check(blocking.Game, &changed), "the first position has another table")
}

// FuzzReader reads any bytes as a file of records, checks the games in it, and holds that
// what can be read can be written and read again.
func FuzzReader(f *testing.F) {
	for seed := range uint64(6) {
		plain := written(f, play(toys[seed%2], seed, seed > 2))
		zipped := envtest.Gzip(string(plain))
		f.Add(plain)
		f.Add(zipped)
		f.Add(zipped[:len(zipped)-9])
	}
	f.Add([]byte(`{"game":"toy:pick","rules":1,"seed":"1","seats":2,"agents":["a","b"],"choices":[0],"more":true}` + "\n" +
		`{"part":1,"choices":[1],"scores":[0,0],"results":[0,0]}`))
	f.Add([]byte("{}\n[]\nnull\n1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := record.NewReader("fuzz", bytes.NewReader(file))
		if err != nil {
			return
		}
		for rec, err := range r.All() {
			if err != nil {
				break
			}
			require.NoError(t, envtest.Failed(reader(written(t, rec)).Read()), "written but not read")
		}
		r, _ = record.NewReader("fuzz", bytes.NewReader(file))
		for range 1000 {
			_, err := record.CheckNext(r, lookup)
			if err != nil && !errors.Is(err, record.ErrDiffers) || errors.Is(err, io.EOF) {
				return
			}
		}
	})
}
