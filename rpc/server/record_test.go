package server_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/search"
	records "blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// fetch returns finished records.
func fetch(t testing.TB, g *client.Games, options ...any) fields {
	out := ask(t, g, "records", options...)
	require.Len(t, linesOf(out), out["count"].(int))
	return out
}

// recordOne records one in so many episodes, and resets the games.
func recordOne(t testing.TB, g *client.Games, every int) {
	require.NoError(t, g.Call("record", nil, map[string]any{"every": every}))
	require.NoError(t, g.Reset(nil))
}

func linesOf(a fields) []string { return slices.Collect(strings.Lines(string(a.bytes("lines")))) }

// stopRecording fetches everything that is left.
func stopRecording(t testing.TB, g *client.Games) (lines []byte, last fields) {
	for {
		last = fetch(t, g, map[string]any{"stop": true})
		lines = append(lines, last.bytes("lines")...)
		require.Equal(t, false, last["recording"])
		if last["waiting"] == 0 {
			require.Equal(t, wire.BadParams, code(t, g.Call("records", nil)))
			return lines, last
		}
	}
}

// recordsIn checks every record of lines by replaying it.
func recordsIn(t testing.TB, lines []byte, game *env.Game) (all []*records.Record) {
	for rec, err := range envtest.Must(records.NewReader("lines", bytes.NewReader(lines))).All() {
		require.NoError(t, err)
		require.NoError(t, records.Check(game, rec))
		all = append(all, rec)
	}
	return all
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
				given, _ := options["opponents"].(map[int]string)
				who := slices.Repeat([]string{"policy"}, game.MinSeats)
				for seat, spec := range given {
					who[seat] = spec
				}
				names := map[int]string{}
				if name == "acting" {
					who[1], names[1] = "me", "me"
				}
				what, chosen := map[string]any{"every": 1, "players": names}, []int{0, 1, 2, 3, 4, 5}
				if name == "penalty" {
					what["games"], chosen = u32(3, 1), []int{1, 3}
				}
				require.NoError(t, g.Call("record", nil, what))
				ended := 0
				for k, restart := range []map[string]any{{"seed": 9}, {}} {
					require.NoError(t, g.Reset(restart))
					require.NoError(t, plain.Reset(restart))
					for range 20 {
						some := ask(t, g, "rollout", 10)
						require.Equal(t, ask(t, plain, "rollout", 10), some, "recording changes nothing, %d", k)
						ended += endsIn(g, some.bytes("slabs"), chosen)
					}
				}
				lines, last := stopRecording(t, g)
				all := recordsIn(t, lines, game)
				require.Len(t, all, ended)
				require.Equal(t, []any{ended, 0}, []any{last["finished"], last["dropped"]})
				seen := map[string]bool{}
				for _, rec := range all {
					key := rec.Meta["env"] + "." + rec.Meta["episode"]
					require.False(t, seen[key], key)
					seen[key] = true
					i := envtest.Must(strconv.Atoi(rec.Meta["env"]))
					require.Contains(t, chosen, i-40)
					require.Equal(t, who, rec.Agents)
					require.False(t, rec.Stopped && name == "truncated" && len(rec.Choices) < 5)
				}
			})
		}
	}
}

// endsIn counts the episodes of some games that end in the slabs of a rollout.
func endsIn(g *client.Games, slabs []byte, games []int) (ended int) {
	for slab := range slices.Chunk(slabs, g.Len) {
		at := client.Games{Layout: g.Layout, Len: g.Len, Slab: slab}
		over := or(at.Field("terminated"), at.Field("truncated"))
		for _, i := range games {
			ended += int(over[i])
		}
	}
	return ended
}

// What interrupts an episode leaves it out and is counted.
func TestRecordInterrupted(t *testing.T) {
	g := started(t, "blockbattle", map[string]any{"num_envs": 2})
	roll(t, g, 3)
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1}))
	roll(t, g, 3)
	require.NoError(t, g.Reset(nil))
	roll(t, g, 3)
	require.NoError(t, g.CallSlab("clone", u32(0), u32(1)))
	require.NoError(t, g.Reset(nil))
	got := fetch(t, g)
	require.Equal(t, []any{0, true, 0, 0}, []any{got["count"], got["recording"], got["finished"], got["dropped"]})
	require.Equal(t, 2, got["interrupted"], "the episode under way when recording began does not count")
}

// A client that never fetches costs no more memory than it asked for: the oldest records go, and it is told.
func TestRecordMemory(t *testing.T) {
	g := opened(t, "toy:pick", map[string]any{"num_envs": 64})
	c, before := g.Client(), memory(t, g.Client())
	const most = 64 << 10
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1, "memory": most}))
	require.Equal(t, before+most+17*64, memory(t, c), "counted from the start")
	require.NoError(t, g.Reset(nil))
	roll(t, g, 2_000)
	used := envtest.Live()
	roll(t, g, 2_000)
	require.Less(t, envtest.Live()-used, int64(1<<20))
	lines, last := stopRecording(t, g)
	all := recordsIn(t, lines, toy.Pick)
	require.LessOrEqual(t, len(lines), most)
	require.True(t, len(all) > 50 && last["dropped"].(int) > 10_000)
	require.Equal(t, last["finished"], len(all)+last["dropped"].(int))
	require.Equal(t, before, memory(t, c), "freed at the end")
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 30}))
	require.Equal(t, before+8<<20+3*4<<10+17*64, memory(t, c), "by default")
	require.NoError(t, g.Call("close", nil))
	require.Zero(t, memory(t, c), "freed with the handle")
}

// Errors say what is wrong, and nothing is recorded then.
func TestRecordRefused(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 20 << 20 })
	g := openGames(dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]string{1: "first"}})
	named := func(seat int, name string) any { return map[string]any{"players": map[int]string{seat: name}} }
	for says, all := range map[string][]any{
		"every is 0, want 1 to":             {map[string]any{"every": 0}},
		"every is -5":                       {map[string]any{"every": -5}},
		"memory is 1, want 65536 to":        {map[string]any{"memory": 1}},
		"memory is 1152921504606846976":     {map[string]any{"memory": int64(1) << 60}},
		"games has 1 bytes":                 {map[string]any{"games": []byte{1}}},
		"games names game 3, want 0 to 2":   {map[string]any{"games": u32(3)}},
		"names game 1 twice":                {map[string]any{"games": u32(1, 1)}},
		"players names seat 2, want 0 to 1": {named(2, "x")},
		"which the server plays":            {named(1, "x")},
		"want 1 to 200 bytes of text":       {named(0, ""), named(0, "a\nb"), named(0, strings.Repeat("x", 201)), named(0, "\xff")},
		"path":                              {map[string]any{"path": "/etc/passwd"}},
		"record":                            {7},
	} {
		for _, options := range all {
			refused(t, wire.BadParams, says, g.Call("record", nil, options))
			require.Equal(t, wire.BadParams, code(t, g.Call("records", nil)))
		}
	}
	limited(t, g.Call("record", nil, map[string]any{"memory": 30 << 20}), wire.Limit, "max_memory", 20<<20)
	require.NoError(t, g.Call("record", nil, nil))
	require.ErrorContains(t, g.Call("record", nil, nil), "call records with stop until waiting is 0")
	require.ErrorContains(t, g.Call("records", nil, map[string]any{"path": "x"}), "path")
	require.Zero(t, fetch(t, g)["count"], "before the first reset")
	stopRecording(t, g)
	require.NoError(t, g.Call("record", nil, nil))
}

// A recording can be ended while games are being stepped in the background, and begins when none is.
func TestRecordingEndsInAStream(t *testing.T) {
	g := opened(t, "toy:pick", map[string]any{"num_envs": 6})
	recordOne(t, g, 1)
	require.NoError(t, g.Call("send", nil, u32(0, 1, 2, 3, 4, 5), none(g.Rows)))
	stopRecording(t, g)
	require.Len(t, recv(t, g, 6, 6), 6)
	require.NoError(t, g.Call("record", nil, nil))
	require.NoError(t, g.Call("send", nil, u32(2), none(2)))
	require.ErrorContains(t, g.Call("record", nil, nil), "is being recorded")
}

// Malformed recordings, and those of games that are not resumed, are refused and change nothing.
func TestRecordingsAreRefused(t *testing.T) {
	g := started(t, "toy:pick", map[string]any{"num_envs": 2, "opponents": map[int]string{1: "first"}})
	c := ask(t, g, "checkpoint", nil)
	resume := func(recordings string) error {
		return g.CallSlab("resume", nil, c["head"], c["games"], map[string]any{"recordings": []byte(recordings)})
	}
	line := `{"game":1,"episode":"0","seed":"7","agents":["policy","first"],"choices":[3]}`
	require.ErrorContains(t, resume(line), "handle 1 is not being recorded: call record first")
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1, "memory": 64 << 10}))
	for recordings, says := range map[string]string{
		"x":                          "recordings, entry 1: invalid character 'x'",
		line + line:                  "entry 2: game 1 is not resumed, or has two",
		`{"game":2}`:                 "entry 1: game 2 is not resumed",
		`{"game":-1}`:                "entry 1: game -1 is not resumed",
		`{"game":0,"agents":["a"]}`:  "entry 1: 1 agents, want 2",
		`{"game":0,"choices":[-1]}`:  "cannot unmarshal number -1",
		`{"game":0,"choices":["1"]}`: "cannot unmarshal string",
	} {
		refused(t, wire.BadParams, says, resume(recordings))
	}
	require.NoError(t, resume(strings.Replace(line, "[3", "[3"+strings.Repeat(",3", 40000), 1)), "more than its memory holds: the record is dropped")
	require.Equal(t, 1, fetch(t, g)["dropped"])
	require.NoError(t, resume(line))
}

// random is a player that draws its moves.
func random(name string) match.Player {
	return match.Player{Name: name, New: func(seed uint64) (env.Agent, error) { return search.NewRandom(seed), nil }}
}

// played plays a match and returns its report and the arrays of its games, as a client sends them.
func played(t *testing.T, m match.Match) (*match.Report, map[string]any) {
	var scores, results, actions, stopped []byte
	m.Record = func(rec *records.Record) error {
		for _, score := range rec.Scores {
			scores = append(scores, u32(uint32(score))...)
		}
		results = append(results, f32(rec.Results...)...)
		if rec.Seats == 1 {
			actions = append(actions, u32(uint32(len(rec.Choices)))...)
			stopped = append(stopped, map[bool]byte{true: 1}[rec.Stopped])
		}
		return nil
	}
	want := envtest.Must(m.Play(t.Context()))
	names := []string{}
	for _, p := range m.Players {
		names = append(names, p.Name)
	}
	return want, map[string]any{"players": names, "seed": m.Seed, "seats": m.GameSeats(), "scores": scores,
		"results": results, "actions": actions, "stopped": stopped, "cap": m.Cap, "steps": m.Steps}
}

// asking connects to a server of all games.
func asking(t *testing.T) *client.Client {
	return dial(t, start(t, func(c *server.Config) { c.Games = games.All }).unix)
}

// What a client has played comes to what a match of the same games comes to: in pairs, in sets and alone.
func TestReport(t *testing.T) {
	c := asking(t)
	for name, m := range map[string]match.Match{
		"blockbattle": {Players: []match.Player{random("a"), random("b")}, Units: 9, Seed: 3},
		"blocking":    {Players: []match.Player{random("a"), random("a")}, Units: 5, Seed: math.MaxUint64, Seats: 4},
		"wintetris":   {Players: []match.Player{random("a")}, Units: 8, Cap: 2, Steps: 40},
		"dropblox":    {Players: []match.Player{random("a")}, Units: 1},
	} {
		m.Rules = games.Find(games.All, name)
		report, options := played(t, m)
		want := envtest.Must(json.Marshal(report))
		got := ask(t, c, "report", name, options)
		require.JSONEq(t, string(want), string(got.bytes("report")), name)
		require.Equal(t, match.Versus{Report: report}.String(), got["text"])
	}
}

// Several players, of which every two have met, are a ladder: the best is first in the report and in its table.
func TestReportOfALadder(t *testing.T) {
	options := map[string]any{"players": []string{"weak", "strong", "middle"}, "scores": make([]byte, 3*16),
		"between": []byte{0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 2, 0},
		"results": f32(-1, 1, 1, -1, -1, 1, 0, 0, 1, -1, 0, 0)} // two games of every two players
	got := ask(t, asking(t), "report", "blockbattle", options)
	var report match.Report
	require.NoError(t, json.Unmarshal(got.bytes("report"), &report))
	require.Equal(t, match.Counts{Wins: 3, Draws: 1}, report.Players[0].Counts)
	require.Len(t, report.Meetings, 3)
	require.Equal(t, match.Counts{Draws: 1, Losses: 1}, report.Meetings[1].Counts)
	require.Regexp(t, `(?s)blockbattle, seed 0: 6 games\n.*place +player .*1 +strong .*2 +middle .*3 +weak`, got["text"])
	for k, name := range []string{"strong", "middle", "weak"} {
		require.Equal(t, name, report.Players[k].Name)
	}
}

// Arrays that do not belong together are refused by name, and what a report takes is given back.
func TestReportRefuses(t *testing.T) {
	c := asking(t)
	_, good := played(t, match.Match{Rules: games.Find(games.All, "blockbattle"), Units: 2,
		Players: []match.Player{random("a"), random("b")}})
	for says, bad := range map[string]map[string]any{
		"seats is 3, want 2 to 2":                 {"seats": 3},
		"1 players, want 2":                       {"players": []string{"a"}},
		"3 players, want 2":                       {"players": []string{"a", "b", "c"}},
		"scores has 31 bytes, want 16":            {"scores": make([]byte, 31)},
		"scores has 0 bytes, want 16":             {"scores": nil},
		"results has 4 bytes, want 32":            {"results": make([]byte, 4)},
		"actions has 4 bytes, want 0":             {"actions": make([]byte, 4)},
		"between has 4 bytes, want 8":             {"between": []byte{0, 0, 1, 0}},
		"players 1 and 1, want two of 2":          {"between": []byte{0, 0, 1, 0, 1, 0, 1, 0}},
		"players 0 and 2, want two of 2":          {"between": []byte{0, 0, 1, 0, 0, 0, 2, 0}},
		"name of player 1 has 5000 bytes, want a": {"players": []string{"a", string(make([]byte, 5000))}},
		`unknown field "more"`:                    {"more": 1},
	} {
		options := maps.Clone(good)
		maps.Copy(options, bad)
		refused(t, wire.BadParams, says, c.Call("report", nil, "blockbattle", options))
	}
	require.Equal(t, wire.UnknownGame, code(t, c.Call("report", nil, "chess", good)))
	require.Equal(t, wire.BadParams, code(t, c.Call("report", nil, "wintetris", good)))
	require.NoError(t, c.Call("report", nil, "blockbattle", good))
	require.Zero(t, memory(t, c))
}
