package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest/toy"

	"github.com/stretchr/testify/require"
)

var toys = []*env.Game{toy.Pick, toy.Turns}

func lookup(name string, _ []string) (*env.Game, error) {
	for _, g := range toys {
		if g.Name == name {
			return g, nil
		}
	}
	return nil, fmt.Errorf("no game %q", name)
}

// play records a random game of g in which one choice in ten is not made.
func play(g *env.Game, seed uint64, draws bool) *record.Record {
	s := g.New(g.MinSeats)
	s.Reset(seed)
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
	t.Helper()
	r, err := record.Open(path)
	require.NoError(t, err)
	defer r.Close()
	r.AllowPartial = partial
	for rec, err := range r.All() {
		require.NoError(t, err)
		out = append(out, rec)
	}
	return out
}

func TestWriteRead(t *testing.T) {
	for _, name := range []string{"games.jsonl", "games.jsonl.gz"} {
		path := filepath.Join(t.TempDir(), name)
		w, err := record.Create(path)
		require.NoError(t, err)
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
		_, err = os.Stat(path)
		require.ErrorIs(t, err, os.ErrNotExist, "the file takes its name when it is closed")
		require.NoError(t, w.Close())
		require.NoError(t, w.Close())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, strings.HasSuffix(name, ".gz"), text[0] == 0x1f)
		require.Equal(t, want, readAll(t, path, false))
		for _, rec := range want {
			g, err := lookup(rec.Game, nil)
			require.NoError(t, err)
			require.NoError(t, record.Check(g, rec))
		}
		discarded, err := record.Create(path + "2")
		require.NoError(t, err)
		require.NoError(t, discarded.Write(want[0]))
		discarded.Discard()
		require.NoError(t, discarded.Close())
		left, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Len(t, left, 1)
	}
}

// A file whose writer was killed at any byte is read up to there, and written on.
func TestAppendAfterAnyCut(t *testing.T) {
	for _, name := range []string{"games.jsonl", "games.jsonl.gz"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		first, second := play(toy.Pick, 1, false), play(toy.Turns, 2, true)
		for _, rec := range []*record.Record{first, second} {
			w, err := record.Append(path)
			require.NoError(t, err)
			require.NoError(t, errors.Join(w.Write(rec), w.Close()))
		}
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Len(t, readAll(t, path, false), 2)
		for n := 0; n <= len(whole); n += 7 {
			cut := filepath.Join(dir, "cut"+name)
			require.NoError(t, os.WriteFile(cut, whole[:n], 0o644))
			before := readAll(t, cut, true)
			w, err := record.Append(cut)
			require.NoError(t, err, "cut at %d", n)
			require.NoError(t, errors.Join(w.Write(second), w.Close()))
			require.Equal(t, append(before, second), readAll(t, cut, false), "cut at %d", n)
		}
	}
}

// The last line may lack its end, but nothing more.
func TestPartialLine(t *testing.T) {
	var text bytes.Buffer
	w := record.NewWriter(&text)
	rec := play(toy.Pick, 1, false)
	require.NoError(t, errors.Join(w.Write(rec), w.Write(rec), w.Close()))
	for cut, want := range map[int]error{10: record.ErrPartial, 1: nil, 0: nil} {
		r := reader(t, text.Bytes()[:text.Len()-cut])
		_, err := r.Read()
		require.NoError(t, err)
		_, err = r.Read()
		require.ErrorIs(t, err, want)
		if want != nil {
			require.ErrorContains(t, err, "long:2:")
			continue
		}
		_, err = r.Read()
		require.ErrorIs(t, err, io.EOF)
	}
}

func TestWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl.gz")
	w, err := record.Create(path)
	require.NoError(t, err)
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
