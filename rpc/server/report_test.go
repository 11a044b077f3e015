package server_test

import (
	"encoding/json"
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/search"
	records "blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// random is a player that draws its moves.
func random(name string) match.Player {
	return match.Player{Name: name, New: func(seed uint64) (env.Agent, error) { return search.NewRandom(seed), nil }}
}

// played plays a match and returns its report and the arrays of its games, as a client sends them.
func played(t *testing.T, m match.Match) (*match.Report, map[string]any) {
	t.Helper()
	var scores, results, actions, stopped []byte
	m.Record = func(rec *records.Record) error {
		for seat := range rec.Scores {
			scores, results = append(scores, u32(uint32(rec.Scores[seat]))...), append(results, f32(rec.Results[seat])...)
		}
		if rec.Seats == 1 {
			actions, stopped = append(actions, u32(uint32(len(rec.Choices)))...), append(stopped, 0)
			if rec.Stopped {
				stopped[len(stopped)-1] = 1
			}
		}
		return nil
	}
	want, err := m.Play(t.Context())
	require.NoError(t, err)
	names := []string{}
	for _, p := range m.Players {
		names = append(names, p.Name)
	}
	return want, map[string]any{"players": names, "seed": m.Seed, "seats": m.GameSeats(), "scores": scores,
		"results": results, "actions": actions, "stopped": stopped, "cap": m.Cap, "steps": m.Steps}
}

// asking starts a server of all games and connects to it.
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
		want, err := json.Marshal(report)
		require.NoError(t, err)
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
	var names []string
	for _, p := range report.Players {
		names = append(names, p.Name)
	}
	require.Equal(t, []string{"strong", "middle", "weak"}, names)
	require.Equal(t, match.Counts{Wins: 3, Draws: 1}, report.Players[0].Counts)
	require.Len(t, report.Meetings, 3)
	require.Equal(t, match.Counts{Draws: 1, Losses: 1}, report.Meetings[1].Counts)
	require.Regexp(t, `(?s)blockbattle, seed 0: 6 games\n.*place +player .*1 +strong .*3 +weak`, got["text"])
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
