package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
)

// shardRow is a row as a stranger to this package reads it.
type shardRow struct {
	Episode    int64     `parquet:"episode"`
	Step       int32     `parquet:"step"`
	Seat       uint8     `parquet:"seat"`
	Obs        []byte    `parquet:"obs"`
	Globals    []float32 `parquet:"globals,list"`
	Mask       []byte    `parquet:"mask"`
	Action     uint16    `parquet:"action"`
	Score      int32     `parquet:"score"`
	Reward     float32   `parquet:"reward"`
	Points     int32     `parquet:"points"`
	Terminated bool      `parquet:"terminated"`
	Truncated  bool      `parquet:"truncated"`
	Seed       uint64    `parquet:"seed"`
	Policy     string    `parquet:"policy_id"`
	Value      *float32  `parquet:"value,optional"`
}

// recorded plays n random games of g, some of them broken off, some with choices not made.
func recorded(t testing.TB, g *env.Game, n int) (file []byte, recs []*record.Record) {
	var out bytes.Buffer
	w := record.NewWriter(&out)
	random := env.Rand{Word: 5}
	for k := range n {
		seats := g.MinSeats + k%(g.MaxSeats-g.MinSeats+1)
		s := envtest.Start[env.State](g, seats, uint64(k))
		rec := record.New(g, uint64(k), []string{"a", "b", "c", "d"}[:seats])
		for step := 0; s.Acting() != 0 && step < 20+10*k; step++ {
			m := env.NoMoves
			for set := s.Acting(); set != 0; set = set.Rest() {
				legal := s.Legal(set.First(), nil)
				if k != 1 || step != 3 {
					m[set.First()] = legal[random.Next()%uint64(len(legal))]
				}
			}
			rec.Add(s.Acting(), m)
			for range s.Acting().Len() * (k % 3 / 2) { // in every third game
				rec.Values = append(rec.Values, float32(step))
			}
			s.Step(m)
		}
		rec.End(s)
		require.NoError(t, w.Write(rec))
		recs = append(recs, rec)
	}
	require.NoError(t, w.Close())
	return out.Bytes(), recs
}

// A place is where a row is: its episode, step and seat.
type place struct{ episode, step, seat int }

// plainly is what shards should hold, got the slow way: each position kept whole.
func plainly(g *env.Game, recs []*record.Record) map[place]shardRow {
	out := map[place]shardRow{}
	for episode, rec := range recs {
		plainGame(g, episode, rec, out)
	}
	return out
}

func plainGame(g *env.Game, episode int, rec *record.Record, out map[place]shardRow) {
	type moment struct {
		step int
		s    env.State
		a    env.Action
		n    int // of the choice in the record
	}
	bySeat := make([][]moment, rec.Seats)
	s := envtest.Start[env.State](g, rec.Seats, rec.Seed)
	used, step := 0, 0
	for ; s.Acting() != 0 && used < len(rec.Choices); step++ {
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			m[set.First()] = rec.Choices[used]
			was := g.New(rec.Seats)
			was.CopyFrom(s)
			bySeat[set.First()] = append(bySeat[set.First()], moment{step, was, rec.Choices[used], used})
			used++
		}
		s.Step(m)
	}
	for seat, moments := range bySeat {
		for k, at := range moments {
			next, last := s, k == len(moments)-1
			if !last {
				next = moments[k+1].s
			}
			planes, globals := make([]uint8, g.Planes.Len()), make([]float32, g.Globals())
			at.s.Observe(seat, planes, globals)
			mask := make([]byte, g.MaskLen())
			for _, a := range at.s.Legal(seat, nil) {
				mask[a/8] |= 1 << (a % 8)
			}
			row := shardRow{
				Episode: int64(episode), Step: int32(at.step), Seat: uint8(seat), Obs: planes, Globals: globals, Mask: mask,
				Action: uint16(at.a),
				Score:  int32(at.s.Score(seat)), Points: int32(next.Score(seat) - at.s.Score(seat)),
				Terminated: last && s.Acting() == 0, Truncated: last && s.Acting() != 0, Seed: rec.Seed, Policy: rec.Agents[seat],
			}
			if row.Terminated {
				row.Reward = s.Result(seat)
			}
			if len(rec.Values) > 0 {
				row.Value = &rec.Values[at.n]
			}
			out[place{episode, at.step, seat}] = row
		}
	}
}

// walk exports the games of a file and closes the sink.
func walk(t testing.TB, g *env.Game, file []byte, to Sink) *Walker {
	r := envtest.Must(record.NewReader("games", bytes.NewReader(file)))
	w := NewWalker(g, to)
	_, w.Texts = to.(*SFT)
	for {
		err := w.Next(context.Background(), r)
		if errors.Is(err, io.EOF) {
			require.NoError(t, to.Close([]Source{{File: "games", Games: w.Games}}))
			return w
		}
		require.NoError(t, err)
	}
}

// everyGame tests an export to a folder: of a file of n random games, of each kind.
func everyGame(t *testing.T, n int, test func(t *testing.T, g *env.Game, dir string, f []byte, r []*record.Record)) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			file, recs := recorded(t, g, n)
			test(t, g, t.TempDir(), file, recs)
		})
	}
}

// unpacked spreads packed cells out again, a bit at a time.
func unpacked(obs []byte, cells, bits int) []byte {
	out := make([]byte, cells)
	for k := range out {
		for b := range bits {
			at := k*bits + b
			out[k] |= obs[at/8] >> (at % 8) & 1 << b
		}
	}
	return out
}

// Every row of every game is what the plain way says, whatever shards and groups it lies in.
func TestShards(t *testing.T) {
	everyGame(t, 5, func(t *testing.T, g *env.Game, dir string, file []byte, recs []*record.Record) {
		s := envtest.Must(NewShards(dir, g, 30))
		s.group = 10
		w := walk(t, g, file, s)
		names := envtest.Must(filepath.Glob(filepath.Join(dir, "data", "*")))
		require.Greater(t, len(names), 1)
		want, groups := plainly(g, recs), 0
		total := len(want)
		for _, name := range names {
			groups += groupsOf(t, name)
			for _, row := range envtest.Must(parquet.ReadFile[shardRow](name)) {
				row.Obs = unpacked(row.Obs, g.Planes.Len(), g.CellBits())
				at := place{int(row.Episode), int(row.Step), int(row.Seat)}
				require.Equal(t, want[at], row, "%s: %v", name, at)
				delete(want, at)
			}
		}
		require.Empty(t, want)
		require.Greater(t, groups, len(names))
		require.EqualValues(t, total, w.Rows)
		var info struct{ Episodes, Rows int }
		readJSON(t, filepath.Join(dir, "meta", "info.json"), &info)
		require.Equal(t, total, info.Rows)
		require.Equal(t, 5, info.Episodes)
	})
}

func readJSON(t *testing.T, path string, into any) {
	require.NoError(t, json.Unmarshal(envtest.Must(os.ReadFile(path)), into))
}

// groupsOf counts the row groups of a file.
func groupsOf(t *testing.T, name string) int {
	text := envtest.Must(os.ReadFile(name))
	p := envtest.Must(parquet.OpenFile(bytes.NewReader(text), int64(len(text))))
	about, ok := p.Lookup("blockyard")
	require.True(t, ok)
	require.True(t, json.Valid([]byte(about)))
	return len(p.RowGroups())
}

type minariRow struct {
	Observations struct {
		Planes  []uint8   `parquet:"planes,list"`
		Globals []float32 `parquet:"globals,list"`
	} `parquet:"observations"`
	Actions      int64   `parquet:"actions"`
	Rewards      float64 `parquet:"rewards"`
	Terminations bool    `parquet:"terminations"`
	Truncations  bool    `parquet:"truncations"`
	Infos        struct {
		Mask  []int8 `parquet:"action_mask,list"`
		Score int32  `parquet:"score"`
	} `parquet:"infos"`
}

// Episodes are those of the seats that made all their choices, each with a row more than it
// has choices, in one row group.
func TestMinari(t *testing.T) {
	everyGame(t, 4, func(t *testing.T, g *env.Game, dir string, file []byte, recs []*record.Record) {
		m := envtest.Must(NewMinari(dir, "blockyard/test-v0", g))
		walk(t, g, file, m)
		seats := 0
		for _, rec := range recs {
			seats += rec.Seats
		}
		require.EqualValues(t, seats, m.Episodes+m.Missing)
		require.NotZero(t, m.Missing, "some choices were not made")
		want, steps := plainly(g, recs), int64(0)
		for k := range m.Episodes {
			steps += checkEpisode(t, filepath.Join(dir, "data", fmt.Sprint(k)), want)
		}
		require.Equal(t, m.Steps, steps)
		require.Empty(t, envtest.Must(filepath.Glob(filepath.Join(dir, "data", ".*"))))
	})
}

func checkEpisode(t *testing.T, dir string, want map[place]shardRow) int64 {
	var about struct {
		Game, Seat int
		Steps      int64 `json:"total_steps"`
	}
	readJSON(t, filepath.Join(dir, "metadata.json"), &about)
	rows := envtest.Must(parquet.ReadFile[minariRow](filepath.Join(dir, "part-0.parquet")))
	require.EqualValues(t, about.Steps+1, len(rows))
	k := 0
	for step := range 1000 {
		w, ok := want[place{about.Game, step, about.Seat}]
		if !ok {
			continue
		}
		r := rows[k]
		k++
		require.Equal(t, w.Obs, r.Observations.Planes)
		require.EqualValues(t, 1, r.Infos.Mask[r.Actions])
		got := shardRow{Globals: r.Observations.Globals, Action: uint16(r.Actions), Reward: float32(r.Rewards),
			Score: r.Infos.Score, Terminated: r.Terminations, Truncated: r.Truncations}
		require.Equal(t, shardRow{Globals: w.Globals, Action: w.Action, Reward: w.Reward,
			Score: w.Score, Terminated: w.Terminated, Truncated: w.Truncated}, got)
	}
	require.Len(t, rows, k+1)
	return about.Steps
}

func TestMinariNames(t *testing.T) {
	for id, good := range map[string]bool{
		"blockyard/blocking/records-v0": true, "records-v12": true,
		"a/b": false, "../x-v0": false, "/etc/x-v0": false, "": false, "a//b-v0": false,
	} {
		require.Equal(t, good, CheckMinariID(id) == nil, id)
	}
}

// What a record says wrongly of its game is found, in whatever part of it.
func TestSpoiltRecords(t *testing.T) {
	g := games.All[0]
	for name, spoil := range map[string]func(r *record.Record){
		"scores":  func(r *record.Record) { r.Scores[0]++ },
		"rules":   func(r *record.Record) { r.Rules++ },
		"choices": func(r *record.Record) { r.Choices = r.Choices[:len(r.Choices)-g.MinSeats] },
		"illegal": func(r *record.Record) { r.Choices[2] = env.Action(g.Actions) },
		"game":    func(r *record.Record) { r.Game = games.All[1].Name },
	} {
		_, recs := recorded(t, g, 1)
		rec := recs[0]
		rec.Stopped = false
		spoil(rec)
		var out bytes.Buffer
		w := record.NewWriter(&out)
		require.NoError(t, errors.Join(w.Write(rec), w.Close()))
		r := envtest.Must(record.NewReader("spoilt", &out))
		s := envtest.Must(NewShards(t.TempDir(), g, 100))
		require.Error(t, NewWalker(g, s).Next(context.Background(), r), name)
		s.Discard()
	}
}

// sftStranger is a row as a stranger to this package reads it.
type sftStranger struct {
	Prompt     string   `parquet:"prompt" json:"prompt"`
	Completion string   `parquet:"completion" json:"completion"`
	LegalMoves []string `parquet:"legal_moves,list" json:"legal_moves"`
	Value      *float32 `parquet:"value,optional" json:"value"`
	Episode    int64    `parquet:"episode" json:"episode"`
	Step       int32    `parquet:"step" json:"step"`
	Seat       int32    `parquet:"seat" json:"seat"`
	Policy     string   `parquet:"policy_id" json:"policy_id"`
}

// Both files have every decision with an action: its position in words, its legal moves and the move.
func TestSFT(t *testing.T) {
	everyGame(t, 4, func(t *testing.T, g *env.Game, dir string, file []byte, recs []*record.Record) {
		s := envtest.Must(NewSFT(dir, g))
		walk(t, g, file, s)
		want := plainly(g, recs)
		maps.DeleteFunc(want, func(_ place, row shardRow) bool { return row.Action == uint16(env.None) })
		rows := envtest.Must(parquet.ReadFile[sftStranger](filepath.Join(dir, "data", "train.parquet")))
		require.Len(t, rows, len(want))
		lines := strings.SplitAfter(string(envtest.Must(os.ReadFile(filepath.Join(dir, "train.jsonl")))), "\n")
		require.Len(t, lines, len(rows)+1, "and nothing behind the last")
		for k, row := range rows {
			var line sftStranger
			require.NoError(t, json.Unmarshal([]byte(lines[k]), &line))
			require.Equal(t, row, line)
			w := want[place{int(row.Episode), int(row.Step), int(row.Seat)}]
			require.EqualValues(t, w.Action, envtest.Must(g.Parse(row.Completion)))
			require.Equal(t, w.Value, row.Value)
			require.Equal(t, w.Policy, row.Policy)
			require.Contains(t, row.LegalMoves, row.Completion)
			mask := make([]byte, g.MaskLen())
			for _, m := range row.LegalMoves {
				a := envtest.Must(g.Parse(m))
				mask[a/8] |= 1 << (a % 8)
			}
			require.Equal(t, w.Mask, mask)
			envtest.Has(t, row.Prompt, "It is your turn.", "Legal moves: "+row.LegalMoves[0])
		}
		require.Contains(t, string(envtest.Must(os.ReadFile(filepath.Join(dir, "README.md")))), "4 games, ")
	})
}
