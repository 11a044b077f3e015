package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	records "blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/toy"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// fetched is the result of records.
type fetched struct {
	Count       int    `msgpack:"count"`
	Lines       []byte `msgpack:"lines"`
	Waiting     int    `msgpack:"waiting"`
	Recording   bool   `msgpack:"recording"`
	Finished    int    `msgpack:"finished"`
	Dropped     int    `msgpack:"dropped"`
	Interrupted int    `msgpack:"interrupted"`
}

func fetch(t testing.TB, g *client.Games, options map[string]any) (out fetched) {
	t.Helper()
	require.NoError(t, g.Call("records", &out, options))
	require.Equal(t, out.Count, bytes.Count(out.Lines, []byte("\n")))
	return out
}

// stopRecording fetches everything that is left.
func stopRecording(t testing.TB, g *client.Games) (lines []byte, last fetched) {
	t.Helper()
	for {
		last = fetch(t, g, map[string]any{"stop": true})
		lines = append(lines, last.Lines...)
		require.False(t, last.Recording)
		if last.Waiting == 0 {
			require.Equal(t, wire.BadParams, code(t, g.Call("records", nil)))
			return lines, last
		}
	}
}

// recordsIn checks every record of lines by replaying it.
func recordsIn(t testing.TB, lines []byte, game *env.Game) (all []*records.Record) {
	t.Helper()
	r, err := records.NewReader("lines", bytes.NewReader(lines))
	require.NoError(t, err)
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		require.NoError(t, records.Check(game, rec))
		all = append(all, rec)
	}
}

// Every recorded episode replays, says who sat where and which episode it was, and recording changes nothing.
func TestRecordEveryEpisode(t *testing.T) {
	for _, game := range []*env.Game{toy.Pick, toy.Turns, blockbattle.Game} {
		for name, options := range map[string]map[string]any{
			"next step": {"opponents": map[int]string{1: "first"}},
			"same step": {"autoreset": "SameStep", "opponents": map[int]string{0: "first"}},
			"truncated": {"autoreset": "SameStep", "max_episode_steps": 5},
			"disabled":  {"autoreset": "Disabled", "max_episode_steps": 7, "opponents": map[int]string{1: "first"}},
			"penalty":   {"illegal": "penalty"},
			"acting":    {"rows": "acting", "autoreset": "SameStep"},
		} {
			t.Run(game.Name+"/"+name, func(t *testing.T) {
				options["num_envs"], options["seed"], options["first"] = 6, 5, 40
				g, plain := opened(t, game.Name, options), opened(t, game.Name, options)
				require.NoError(t, g.Call("record", nil, map[string]any{"every": 1}))
				ended := 0
				for k := range 40 {
					restart := map[string]any{}
					if k == 0 {
						restart["seed"] = 9
					}
					if k%20 == 0 {
						require.NoError(t, g.CallSlab("reset", restart))
						require.NoError(t, plain.CallSlab("reset", restart))
					}
					var some, other struct {
						Slabs []byte `msgpack:"slabs"`
					}
					require.NoError(t, g.Call("rollout", &some, 10))
					require.NoError(t, plain.Call("rollout", &other, 10))
					require.Equal(t, other.Slabs, some.Slabs, "recording changes nothing")
					ended += endsIn(t, g, some.Slabs)
				}
				lines, last := stopRecording(t, g)
				all := recordsIn(t, lines, game)
				require.Len(t, all, ended)
				require.Equal(t, ended, last.Finished)
				require.Zero(t, last.Dropped)
				seen := map[string]bool{}
				for _, rec := range all {
					key := rec.Meta["env"] + "." + rec.Meta["episode"]
					require.False(t, seen[key], key)
					seen[key] = true
					i, err := strconv.Atoi(rec.Meta["env"])
					require.NoError(t, err)
					require.True(t, i >= 40 && i < 46)
					who := slices.Repeat([]string{"policy"}, rec.Seats)
					if given, ok := options["opponents"].(map[int]string); ok {
						for seat, spec := range given {
							who[seat] = spec
						}
					}
					require.Equal(t, who, rec.Agents)
					if name == "truncated" && len(rec.Choices) < 5 {
						require.False(t, rec.Stopped)
					}
				}
			})
		}
	}
}

// endsIn counts the episodes that end in the slabs of a rollout.
func endsIn(t testing.TB, g *client.Games, slabs []byte) (ended int) {
	kept := g.Slab
	defer func() { g.Slab = kept }()
	for ; len(slabs) > 0; slabs = slabs[len(kept):] {
		g.Slab = slabs[:len(kept)]
		for i, over := range g.Field("terminated") {
			ended += int(over | g.Field("truncated")[i])
		}
	}
	return ended
}

// One in so many episodes is recorded, the same ones however the games are split.
func TestRecordSample(t *testing.T) {
	play := func(first, games int) (lines []string) {
		g := opened(t, "toy:pick", map[string]any{"num_envs": games, "first": first, "seed": 3})
		require.NoError(t, g.Call("record", nil, map[string]any{"every": 10, "players": map[int]string{1: "me", 0: "you"}}))
		require.NoError(t, g.CallSlab("reset"))
		for range 30 {
			require.NoError(t, g.Call("rollout", nil, 10, map[string]any{"keep": "last"}))
			lines = append(lines, strings.Split(string(fetch(t, g, nil).Lines), "\n")...)
		}
		return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	}
	whole, parts := play(0, 25), append(play(0, 11), play(11, 14)...)
	require.Equal(t, slices.Sorted(slices.Values(whole)), slices.Sorted(slices.Values(parts)))
	for _, rec := range recordsIn(t, []byte(strings.Join(whole, "\n")), toy.Pick) {
		i, _ := strconv.Atoi(rec.Meta["env"])
		episode, _ := strconv.Atoi(rec.Meta["episode"])
		require.Zero(t, (i+episode)%10)
		require.Equal(t, []string{"you", "me"}, rec.Agents)
	}
	require.Greater(t, len(whole), 40)
}

// Chosen games only, and opponents that change by the episode.
func TestRecordChosenGames(t *testing.T) {
	g := opened(t, "toy:pick", map[string]any{"num_envs": 4, "opponents": map[int]string{1: "first"}, "autoreset": "Disabled"})
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1, "games": u32(3, 1)}))
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "second"}), "the episode in progress keeps its opponent")
	for range 2 {
		require.NoError(t, g.Call("rollout", nil, 14, map[string]any{"keep": "last"}))
	}
	lines, _ := stopRecording(t, g)
	var who []string
	for _, rec := range recordsIn(t, lines, toy.Pick) {
		require.Contains(t, []string{"1", "3"}, rec.Meta["env"])
		who = append(who, rec.Meta["episode"]+rec.Agents[1])
	}
	require.Contains(t, who, "0first")
	require.Contains(t, who, "1second")
	require.NotContains(t, who, "1first")
}

// What interrupts an episode leaves it out and is counted.
func TestRecordInterrupted(t *testing.T) {
	g := opened(t, "blockbattle", map[string]any{"num_envs": 2})
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, g.Call("rollout", nil, 3))
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1}))
	require.NoError(t, g.Call("rollout", nil, 3))
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, g.Call("rollout", nil, 3))
	require.NoError(t, g.CallSlab("clone", u32(0), u32(1)))
	require.NoError(t, g.CallSlab("reset"))
	out := fetch(t, g, nil)
	require.True(t, out.Recording)
	require.Equal(t, 2, out.Interrupted, "the episode under way when recording began does not count")
	require.Zero(t, out.Count)
}

// A client that never fetches costs no more memory than it asked for: the oldest records go, and it is told.
func TestRecordMemory(t *testing.T) {
	p := start(t, nil)
	g, err := dial(t, p.unix).Open("toy:pick", map[string]any{"num_envs": 64})
	require.NoError(t, err)
	var before, during, after struct {
		Memory int64 `msgpack:"memory"`
	}
	require.NoError(t, g.Client().Call("stats", &before))
	const memory = 64 << 10
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1, "memory": memory}))
	require.NoError(t, g.Client().Call("stats", &during))
	require.Equal(t, before.Memory+memory+17*64, during.Memory, "counted from the start")
	require.NoError(t, g.CallSlab("reset"))
	roll := func() { require.NoError(t, g.Call("rollout", nil, 2_000, map[string]any{"keep": "last"})) }
	roll()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	heap := m.HeapAlloc
	roll()
	runtime.GC()
	runtime.ReadMemStats(&m)
	require.Less(t, int64(m.HeapAlloc)-int64(heap), int64(1<<20))
	lines, last := stopRecording(t, g)
	all := recordsIn(t, lines, toy.Pick)
	require.LessOrEqual(t, len(lines), memory)
	require.Greater(t, len(all), 50)
	require.Greater(t, last.Dropped, 10_000)
	require.Equal(t, last.Finished, len(all)+last.Dropped)
	newest, _ := strconv.Atoi(all[len(all)-1].Meta["episode"])
	oldest, _ := strconv.Atoi(all[0].Meta["episode"])
	require.Less(t, newest-oldest, 40, "the newest are kept")
	require.NoError(t, g.Client().Call("stats", &after))
	require.Equal(t, before.Memory, after.Memory, "freed at the end")
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 30}))
	require.NoError(t, g.Client().Call("stats", &during))
	require.Equal(t, before.Memory+8<<20+3*4<<10+17*64, during.Memory, "by default")
	require.NoError(t, g.Client().Call("close", nil, g.H))
	require.NoError(t, g.Client().Call("stats", &after))
	require.Zero(t, after.Memory, "freed with the handle")
}

// An endless game goes on for ever.
type endless struct{ toy.State }

func (s *endless) CopyFrom(src env.State) { *s = *src.(*endless) }
func (s *endless) Acting() env.Seats      { return 3 }
func (s *endless) Legal(_ int, dst []env.Action) []env.Action {
	return append(dst, 0, 1)
}

func (s *endless) Step(m env.Moves) {
	s.State.Step(m)
	s.Points, s.Played = [env.MaxSeats]uint8{}, 0
}

// A game that is longer than the memory allows is given up, a long one is a record of several lines.
func TestRecordLongGames(t *testing.T) {
	game := *toy.Pick
	game.Name, game.ID = "toy:endless", "ToyEndless-v0"
	game.New = func(seats int) env.State { return &endless{*toy.Pick.New(seats).(*toy.State)} }
	p := start(t, func(c *server.Config) { c.Games = []*env.Game{&game} })
	for _, c := range []struct{ memory, steps, records int }{{64 << 10, 20_000, 0}, {4 << 20, 20_000, 1}, {4 << 20, 100_000, 1}} {
		g, err := dial(t, p.unix).Open("toy:endless", map[string]any{"max_episode_steps": c.steps})
		require.NoError(t, err)
		require.NoError(t, g.Call("record", nil, map[string]any{"every": 1, "memory": c.memory}))
		require.NoError(t, g.CallSlab("reset"))
		require.NoError(t, g.Call("rollout", nil, c.steps, map[string]any{"keep": "last"}))
		var out fetched
		require.NoError(t, g.Call("records", &out))
		require.Equal(t, c.records, out.Count)
		require.Equal(t, 1-c.records, out.Dropped)
		if c.records == 1 {
			all := recordsIn(t, out.Lines, &game)
			require.Len(t, all, 1)
			require.Len(t, all[0].Choices, 2*c.steps)
			require.True(t, all[0].Stopped)
		}
		require.NoError(t, g.Call("rollout", nil, c.steps, map[string]any{"keep": "last"}))
	}
}

// Errors say what is wrong, and nothing is recorded then.
func TestRecordRefused(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 20 << 20 })
	g, err := dial(t, p.unix).Open("toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]string{1: "first"}})
	require.NoError(t, err)
	for _, c := range []struct {
		options any
		says    string
	}{
		{map[string]any{"every": 0}, "every is 0, want 1 to"},
		{map[string]any{"every": -5}, "every is -5"},
		{map[string]any{"memory": 1}, "memory is 1, want 65536 to"},
		{map[string]any{"memory": int64(1) << 60}, "memory is"},
		{map[string]any{"games": []byte{1}}, "games has 1 bytes"},
		{map[string]any{"games": u32(3)}, "games names game 3, want 0 to 2"},
		{map[string]any{"games": u32(1, 1)}, "names game 1 twice"},
		{map[string]any{"players": map[int]string{2: "x"}}, "players names seat 2, want 0 to 1"},
		{map[string]any{"players": map[int]string{1: "x"}}, "which the server plays"},
		{map[string]any{"players": map[int]string{0: ""}}, "want 1 to 200 bytes of text"},
		{map[string]any{"players": map[int]string{0: "a\nb"}}, "want 1 to 200 bytes of text"},
		{map[string]any{"players": map[int]string{0: strings.Repeat("x", 201)}}, "want 1 to 200 bytes of text"},
		{map[string]any{"players": map[int]string{0: "\xff"}}, "want 1 to 200 bytes of text"},
		{map[string]any{"path": "/etc/passwd"}, "path"},
		{7, "record"},
	} {
		err := g.Call("record", nil, c.options)
		require.Equal(t, wire.BadParams, code(t, err), "%v", c.options)
		require.ErrorContains(t, err, c.says)
		require.Equal(t, wire.BadParams, code(t, g.Call("records", nil)))
	}
	limited(t, g.Call("record", nil, map[string]any{"memory": 30 << 20}), wire.Limit, "max_memory", 20<<20)
	require.NoError(t, g.Call("record", nil, nil))
	require.ErrorContains(t, g.Call("record", nil, nil), "call records with stop until waiting is 0")
	require.ErrorContains(t, g.Call("records", nil, map[string]any{"path": "x"}), "path")
	require.Zero(t, fetch(t, g, nil).Count, "before the first reset")
	stopRecording(t, g)
	require.NoError(t, g.Call("record", nil, nil))
}

// Steps that record nothing allocate nothing.
func TestRecordingStepsAllocateNothing(t *testing.T) {
	p := start(t, nil)
	g, err := dial(t, p.unix).Open("blockbattle", map[string]any{"num_envs": 32, "first": 1})
	require.NoError(t, err)
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1 << 40}))
	require.NoError(t, g.CallSlab("reset"))
	allocatesNothing(t, quick(t, g))
}

// BenchmarkRecording compares steps without recording, with the default sample, and with every episode.
func BenchmarkRecording(b *testing.B) {
	p := start(b, nil)
	for _, every := range []int{0, 100, 1} {
		b.Run(fmt.Sprintf("every=%d", every), func(b *testing.B) {
			g, err := dial(b, p.unix).Open("blockbattle", map[string]any{"num_envs": 256, "seed": 1})
			require.NoError(b, err)
			if every > 0 {
				require.NoError(b, g.Call("record", nil, map[string]any{"every": every}))
			}
			require.NoError(b, g.CallSlab("reset"))
			for b.Loop() {
				if err := g.Call("rollout", nil, 100, map[string]any{"keep": "last"}); err != nil {
					b.Fatal(err)
				}
				if every > 0 {
					fetch(b, g, nil)
				}
			}
		})
	}
}

// Of a mixture, the record names the opponent that was drawn for the episode.
func TestRecordMixture(t *testing.T) {
	g := opened(t, "toy:pick", map[string]any{"num_envs": 8, "opponents": map[int]any{1: mixed("first", 1, "last", 2)}})
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1}))
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, g.Call("rollout", nil, 300, map[string]any{"keep": "last"}))
	lines, _ := stopRecording(t, g)
	drawn := map[string]int{}
	for _, rec := range recordsIn(t, lines, toy.Pick) {
		drawn[rec.Agents[1]]++
		replay := records.NewReplay(toy.Pick, rec)
		for s, moves := range replay.All() {
			if legal := s.Legal(1, nil); len(legal) > 0 {
				want := legal[0]
				if rec.Agents[1] == "last" {
					want = legal[len(legal)-1]
				}
				require.Equal(t, want, moves[1])
			}
		}
		require.NoError(t, replay.Err())
	}
	require.Len(t, drawn, 2)
	require.Greater(t, drawn["last"], drawn["first"])
	require.Greater(t, drawn["first"], 20)
}

// Games that are stepped in the background are recorded as those that are stepped together, and their records can be
// fetched, and the recording ended, while they are being stepped.
func TestRecordStream(t *testing.T) {
	p := start(t, nil)
	options := map[string]any{"num_envs": 6, "seed": 4, "opponents": map[int]string{1: "first"}, "autoreset": "SameStep"}
	record := map[string]any{"every": 1, "memory": 64 << 10}
	const steps = 300
	whole, err := dial(t, p.unix).Open("toy:pick", options)
	require.NoError(t, err)
	require.NoError(t, whole.Call("record", nil, record))
	require.NoError(t, whole.Reset(nil))
	var want []byte
	for step := range steps {
		var actions []byte
		for i, part := range gamesOf(whole, whole.Slab, 6) {
			actions = append(actions, plan(whole, part, i, step)...)
		}
		require.NoError(t, whole.Step(actions))
		want = append(want, fetch(t, whole, nil).Lines...)
	}

	g, err := dial(t, p.unix).Open("toy:pick", options)
	require.NoError(t, err)
	require.NoError(t, g.Call("record", nil, record))
	require.NoError(t, g.Reset(nil))
	parts := gamesOf(g, g.Slab, 6)
	taken := make([]int, 6)
	var got []byte
	send := func(games ...uint32) {
		var actions []byte
		for _, i := range games {
			actions = append(actions, plan(g, parts[i], int(i), taken[i])...)
			taken[i]++
		}
		require.NoError(t, g.Call("send", nil, u32(games...), actions))
	}
	send(0, 1, 2, 3, 4, 5)
	for left := 6 * steps; left > 0; {
		got = append(got, fetch(t, g, nil).Lines...)
		var r received
		require.NoError(t, g.Call("recv", &r, 1, 6, 60_000))
		games := r.games()
		for k, part := range gamesOf(g, r.Slab, len(games)) {
			left--
			if parts[games[k]] = part; taken[games[k]] < steps {
				send(games[k])
			}
		}
	}
	got = append(got, fetch(t, g, nil).Lines...)
	require.Greater(t, len(recordsIn(t, got, toy.Pick)), 100)
	lines := func(b []byte) []string { return slices.Sorted(strings.SplitSeq(string(b), "\n")) }
	require.Equal(t, lines(want), lines(got))

	send(0, 1, 2, 3, 4, 5)
	rest, _ := stopRecording(t, g)
	recordsIn(t, rest, toy.Pick)
	var r received
	require.NoError(t, g.Call("recv", &r, 6, 6, 60_000))
	for k, part := range gamesOf(g, r.Slab, 6) {
		parts[r.games()[k]] = part
	}
	require.NoError(t, g.Call("record", nil, record))
	send(2)
	require.ErrorContains(t, g.Call("record", nil, record), "is being recorded")
}
