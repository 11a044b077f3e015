package openenv

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
)

// An episode over a WebSocket is the game that vec plays with the same seed and moves.
func TestWebSocketPlaysTheGame(t *testing.T) {
	for k, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			reward := []vec.Reward{vec.RewardScore, vec.RewardResult}[k%2]
			w := start(t, g.Name, server.Config{}, func(c *Config) { c.Reward = reward })
			agents := make([]vec.AgentFactory, g.MinSeats)
			for k := 1; k < len(agents); k++ {
				agents[k] = w.c.Opponent
			}
			e := envtest.Must(vec.New(g, vec.Config{Envs: 1, Agents: agents, Autoreset: vec.Disabled, Reward: reward}))
			defer e.Close()
			batch := envtest.Must(e.NewBatch())
			require.NoError(t, e.Reset(vec.From(11), nil, batch))
			p := w.dial(t, "")
			r := p.reset(`{"seed": 11, "episode_id": "mine", "unknown": 1}`)
			require.Nil(t, r["reward"])
			for step := range 20 {
				moves, legal := movesOf(r), e.Legal(0, 0, nil)
				require.Len(t, moves, len(legal))
				require.Contains(t, observationOf(r)["text"], server.DescribeRows(e, 0, false)[0])
				k := (step * 7) % len(moves)
				require.Equal(t, g.Text(legal[k]), moves[k])
				r = p.step(" " + moves[k] + "\n")
				require.NoError(t, e.Step([]env.Action{legal[k]}, batch))
				require.Equal(t, float64(batch.Reward[0]), r["reward"])
				require.Equal(t, batch.Terminated[0] != 0, r["done"])
				if r["done"].(bool) {
					break
				}
			}
			state := p.state()
			require.Equal(t, "mine", state["episode_id"])
			require.EqualValues(t, 11, state["seed"])
			require.EqualValues(t, e.Steps(0), state["step_count"])
			require.NotZero(t, w.guests.Counts().Steps.Load())
		})
	}
}

// An illegal move changes nothing but the counts. The answer says what is legal.
func TestIllegalMove(t *testing.T) {
	w, p := begun(t, "tetrisduel", nil)
	first := p.reset(`{"seed": 3}`)
	for move, why := range map[string]string{
		"nonsense": "is no move of tetrisduel",
		w.c.Game.Text(env.Action(w.c.Game.Actions - 1)): "is not legal here",
		"": "is no move",
	} {
		r := p.step(move)
		require.EqualValues(t, -0.25, r["reward"])
		require.Equal(t, false, r["done"])
		o := observationOf(r)
		require.Contains(t, o["error"], why)
		require.Contains(t, o["error"], "legal_moves, such as")
		require.Equal(t, movesOf(first), movesOf(r))
		require.Equal(t, observationOf(first)["text"], o["text"])
	}
	state := p.state()
	require.EqualValues(t, 3, state["illegal_moves"])
	require.EqualValues(t, 3, state["step_count"])
	require.EqualValues(t, -0.75, state["total_reward"])
}

// Many sessions play at once, each its own episode.
func TestManySessions(t *testing.T) {
	w := start(t, "blockbattle", server.Config{}, nil)
	var all sync.WaitGroup
	for k := range 64 {
		p := w.dial(t, "")
		all.Go(func() {
			r := p.reset(fmt.Sprintf(`{"seed": %d, "episode_id": "%[1]d"}`, k))
			for range 5 {
				r = p.step(movesOf(r)[k%3])
			}
			if state := p.state(); state["episode_id"] != fmt.Sprint(k) || state["step_count"] != 5.0 {
				t.Errorf("session %d has the state %v", k, state)
			}
			_ = p.Write(t.Context(), 1, []byte(`{"type": "close"}`))
		})
	}
	all.Wait()
	require.EqualValues(t, 64*5, w.guests.Counts().Steps.Load())
}

// Over HTTP an episode_id continues an episode. Without one, clients share an episode.
func TestEpisodesOverHTTP(t *testing.T) {
	w := start(t, "wintetris", server.Config{}, nil)
	w.refuses(t, http.StatusBadRequest, "send a reset first", "POST", "/step", `{"action": {"move": "r0 x0 y19"}}`)
	require.Nil(t, w.want(t, http.StatusOK, "GET", "/state", "")["episode_id"])
	moves := map[string]string{}
	for _, id := range []string{"a", "b", ""} {
		r := w.want(t, http.StatusOK, "POST", "/reset", fmt.Sprintf(`{"seed": 1, "episode_id": %q}`, id))
		moves[id] = movesOf(r)[0]
	}
	for id, steps := range map[string]int{"a": 2, "b": 1, "": 3} {
		for range steps {
			body := fmt.Sprintf(`{"action": {"move": %q}, "episode_id": %q, "timeout_s": 9}`, moves[id], id)
			moves[id] = movesOf(w.want(t, http.StatusOK, "POST", "/step", body))[0]
		}
		require.EqualValues(t, steps, w.want(t, http.StatusOK, "GET", "/state?episode_id="+id, "")["step_count"], id)
	}
	require.Equal(t, false, w.want(t, http.StatusOK, "POST", "/reset", "")["done"])
	require.EqualValues(t, 0, w.want(t, http.StatusOK, "GET", "/state", "")["step_count"], "a reset begins the shared episode again")
	w.refuses(t, http.StatusNotFound, `no episode "other": send a reset`, "GET", "/state?episode_id=other", "")
	require.Equal(t, 3, w.guests.Counts().Sessions)
}

// What the standard asks every server.
func TestFacts(t *testing.T) {
	w := start(t, "dropblox", server.Config{}, nil)
	require.Equal(t, map[string]any{"status": "healthy"}, w.want(t, http.StatusOK, "GET", "/health", ""))
	_, about := w.ask(t, "GET", "/metadata", "")
	require.Equal(t, "Dropblox-v0", about["name"])
	require.Contains(t, about["description"], "by the rules of its contest")
	require.Contains(t, about["readme_content"], "# Dropblox")
	_, schema := w.ask(t, "GET", "/schema", "")
	_, r := w.ask(t, "POST", "/reset", "{}")
	_, state := w.ask(t, "GET", "/state", "")
	for name, value := range map[string]any{"observation": r["observation"], "state": state, "action": map[string]any{"move": 0}} {
		properties := schema[name].(map[string]any)["properties"].(map[string]any)
		for key := range value.(map[string]any) {
			require.Contains(t, properties, key, name)
		}
		required, _ := schema[name].(map[string]any)["required"].([]any)
		for _, key := range required {
			require.Contains(t, value, key, name)
		}
	}
	_, api := w.ask(t, "GET", "/openapi.json", "")
	require.Equal(t, "1.0.0", api["info"].(map[string]any)["version"])
	for _, path := range []string{"/health", "/metadata", "/schema", "/state", "/reset", "/step", "/mcp"} {
		require.Contains(t, api["paths"], path)
	}
	require.Equal(t, "2.0", w.want(t, http.StatusOK, "POST", "/mcp", "{}")["jsonrpc"])
	w.want(t, http.StatusMethodNotAllowed, "GET", "/reset", "")
	w.want(t, http.StatusNotFound, "GET", "/other", "")
}

// Hidden legal moves are in no observation, text or error. The tool that lists them does, and what it lists is played.
func TestHiddenLegalMoves(t *testing.T) {
	w, p := begun(t, "blockbattle", func(c *Config) { c.HideLegal = true })
	r := p.reset(`{"seed": 3}`)
	require.Empty(t, movesOf(r))
	listed := p.must("legal_moves", nil)["legal_moves"].([]any)
	require.Greater(t, len(listed), 5)
	for _, move := range []string{"nonsense", w.c.Game.Text(env.Action(w.c.Game.Actions - 1))} {
		r = p.step(move)
		require.Contains(t, observationOf(r)["error"], ": the tool legal_moves lists those that are")
	}
	shown := fmt.Sprint(w.tool(t, "", "observe", nil), r)
	for _, move := range listed {
		require.NotContains(t, shown, move)
	}
	r = p.step(listed[3].(string))
	require.Empty(t, observationOf(r)["error"])
	require.Empty(t, movesOf(r))
}

// A step reward is the change of the weighted potential, the best value of a move from -8 to 8 as a part of 8. Illegal
// moves have none, the potential of the end is 0, and what an episode earns by it depends only on its first position.
func TestStepReward(t *testing.T) {
	const weight = 4
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			play := func(weight float64) (rewards []any, change float64) {
				_, p := begun(t, g.Name, func(c *Config) { c.StepReward, c.Values = weight, valuesByPlace })
				r := p.reset(`{"seed": 11}`)
				potential := func() float64 { return max(0, min(float64(len(movesOf(r))-1), 8)) / 8 }
				first := potential()
				p.step("nonsense")
				for k := 0; !r["done"].(bool) && k < 300; k++ {
					r = p.step(movesOf(r)[k%len(movesOf(r))])
				}
				s := p.state()
				require.EqualValues(t, weight, s["step_reward"])
				return s["rewards"].([]any), potential() - first
			}
			plain, _ := play(0)
			rewards, change := play(weight)
			require.Len(t, rewards, len(plain))
			require.Equal(t, -0.25, rewards[0], "an illegal move")
			sum := 0.0
			for k, v := range rewards {
				sum += v.(float64) - plain[k].(float64)
			}
			require.InDelta(t, weight*change, sum, 1e-3)
		})
	}
	_, err := New(Config{Game: games.All[0], Ledger: start(t, "wintetris", server.Config{}, nil).c.Ledger,
		Opponent: start(t, games.All[0].Name, server.Config{}, nil).c.Opponent, StepReward: 1})
	require.ErrorContains(t, err, "no agent learned")
}

// recording starts a server that records to a file. records closes the file and reads it, by the names of episodes.
func recording(t *testing.T, game string, sc server.Config, change func(*Config)) (
	w *world, records func() map[string]*record.Record) {
	path := filepath.Join(t.TempDir(), "games.jsonl.gz")
	to := envtest.Must(record.Append(path))
	w = start(t, game, sc, func(c *Config) {
		c.Records = to
		change(c)
	})
	return w, func() map[string]*record.Record {
		require.NoError(t, w.Close())
		require.NoError(t, to.Close())
		from := envtest.Closing(t, envtest.Must(record.Open(path)))
		all := map[string]*record.Record{}
		for rec, err := range from.All() {
			require.NoError(t, err)
			require.NoError(t, record.Check(w.c.Game, rec))
			require.NotContains(t, all, rec.Meta["episode_id"], "an episode has one record")
			all[rec.Meta["episode_id"]] = rec
		}
		return all
	}
}

// finish plays the first legal moves to the end, at most so many, and returns the last observation.
func (p *player) finish(r map[string]any, most int) map[string]any {
	for k := 0; k < most && !r["done"].(bool); k++ {
		r = p.step(movesOf(r)[0])
	}
	return observationOf(r)
}

// Episodes that are over are recorded with the names of who played, as the rules play them again; those that are not
// are left out. What names a record's episode is its episode_id. The client may take any seat.
func TestRecords(t *testing.T) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			w, records := recording(t, g.Name, server.Config{Tokens: []limits.Token{{Name: "ann", Secret: "a"}}},
				func(c *Config) { c.StepLimit, c.Seats, c.Seat = 60, g.MaxSeats, g.MaxSeats-1 })
			p := w.dial(t, "a")
			want := map[string]map[string]any{}
			for id, seat := range map[string]string{"0": `"seat": 0, `, "1": ""} {
				want[id] = p.finish(p.reset(fmt.Sprintf(`{%s"seed": %s, "episode_id": %[2]q}`, seat, id)), 60)
			}
			require.Equal(t, []any{0., float64(g.MaxSeats - 1)}, []any{want["0"]["seat"], want["1"]["seat"]})
			p.finish(p.reset(`{"episode_id": "left"}`), 1)
			all := records()
			require.Len(t, all, 2)
			for id, o := range want {
				rec, seat := all[id], int(o["seat"].(float64))
				require.Equal(t, id, fmt.Sprint(rec.Seed))
				require.Equal(t, o["truncated"], rec.Stopped)
				require.Equal(t, "ann", rec.Agents[seat])
				require.EqualValues(t, rec.Results[seat], o["result"])
				require.Equal(t, !rec.Stopped, strings.Contains(o["text"].(string), "The game is over."))
				for k, score := range rec.Scores {
					require.EqualValues(t, score, o["scores"].([]any)[k])
					require.True(t, k == seat || rec.Agents[k] == "random")
				}
			}
		})
	}
}

// A branch continues the record of its game, and so does a restored position, unless its future was drawn anew: no seed
// leads there. A game that was rewound is recorded as it went on.
func TestRecordsOfBranches(t *testing.T) {
	w, records := recording(t, "blockbattle", server.Config{}, func(*Config) {})
	p := w.dial(t, "")
	p.step(movesOf(p.reset(`{"seed": 5, "episode_id": "game"}`))[3])
	same := namesOf(p.must("fork", map[string]any{"n": 1}))[0]
	other := namesOf(p.must("fork", map[string]any{"n": 1, "seed": 9}))[0]
	token := p.must("save", nil)["state"]
	for _, branch := range []string{same, other} {
		for r := p.must("observe", map[string]any{"branch": branch}); !r["done"].(bool); {
			r = p.must("play", map[string]any{"branch": branch, "move": movesOf(r)[0]})
		}
	}
	p.must("restore", map[string]any{"state": token})
	p.must("rewind", map[string]any{"turn": 1})
	p.finish(p.must("observe", nil), 1000)
	q := w.dial(t, "")
	q.finish(q.reset(fmt.Sprintf(`{"state": %q, "episode_id": "restored"}`, token)), 1000)
	all := records()
	require.Len(t, all, 3)
	require.Contains(t, all, same)
	for _, rec := range all {
		require.EqualValues(t, 5, rec.Seed)
		require.Equal(t, []string{"agent", "random"}, rec.Agents)
		require.Equal(t, all[same].Choices, rec.Choices)
	}
	require.Contains(t, all, "game")
	require.Contains(t, all, "restored")
}

// Random play with other names is random play without: the same rewards and scores, and the same boards but for names.
func TestRelabelledPlay(t *testing.T) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			w := start(t, g.Name, server.Config{}, nil)
			var states []map[string]any
			var shown []string
			for _, rules := range []string{"", "relabelled"} {
				p := w.dial(t, "")
				r := p.reset(fmt.Sprintf(`{"seed": 11, "rules": %q}`, rules))
				random := env.Rand{Word: 4}
				for k := 0; k < 40 && !r["done"].(bool); k++ {
					moves := movesOf(r)
					r = p.step(moves[random.Next()%uint64(len(moves))])
					require.Empty(t, observationOf(r)["error"])
				}
				s := p.state()
				require.Equal(t, rules, s["rules"])
				states, shown = append(states, s), append(shown, observationOf(r)["text"].(string))
				again := w.dial(t, "")
				again.reset(jsonOf(map[string]any{"seed": s["seed"], "rules": rules, "moves": s["moves"]}))
				require.Equal(t, s["rewards"], again.state()["rewards"])
			}
			require.Equal(t, states[0]["rewards"], states[1]["rewards"])
			require.Equal(t, states[0]["step_count"], states[1]["step_count"])
			require.NotEqual(t, states[0]["moves"], states[1]["moves"])
			require.NotEqual(t, shown[0], shown[1])
		})
	}
}

// The rules explain the names, moves of the game itself are none, and an episode without names has the usual ones.
func TestRelabelledRules(t *testing.T) {
	w, p := begun(t, "blockbattle", nil)
	p.must("observe", map[string]any{"new_game": true, "seed": 3, "rules": "relabelled"})
	text := p.must("rules", nil)["rules"].(string)
	envtest.Has(t, text, "names of its own", "spin is ", w.c.Rules)
	require.Contains(t, observationOf(p.step("r0 x0 y19"))["error"], "is not legal here")
	p.reset("{}")
	require.NotContains(t, p.must("rules", nil)["rules"], "names of its own")
}

// use calls a tool by an action over a WebSocket, and returns its result or the text of its error.
func (p *player) use(tool string, arguments map[string]any) (map[string]any, string) {
	call := map[string]any{"type": "call_tool", "tool_name": tool, "arguments": arguments}
	o := observationOf(p.plays(jsonOf(map[string]any{"type": "step", "data": call})))
	if e, ok := o["error"].(map[string]any); ok {
		return nil, e["message"].(string)
	}
	return o["result"].(map[string]any), ""
}

// must is use of a tool that does not fail.
func (p *player) must(tool string, arguments map[string]any) map[string]any {
	out, failed := p.use(tool, arguments)
	require.Empty(p.t, failed, tool)
	return out
}

// fails is use of a tool that says why it fails.
func (p *player) fails(tool string, arguments map[string]any, says string) {
	_, failed := p.use(tool, arguments)
	require.Contains(p.t, failed, says)
}

// line plays n moves in a branch, "" for none, and returns all results as text, without the names of episodes.
func (p *player) line(branch string, n int) (all []string) {
	legal := func() []any { return p.must("legal_moves", map[string]any{"branch": branch})["legal_moves"].([]any) }
	for moves := legal(); len(all) < n && len(moves) > 0; moves = legal() {
		r := p.must("play", map[string]any{"branch": branch, "move": moves[(7*len(all))%len(moves)]})
		delete(observationOf(r), "metadata")
		all = append(all, jsonOf(r))
	}
	return all
}

func namesOf(result map[string]any) []string { return texts(result["branches"]) }

// Branches with an equal future play on as the game does, against opponents with a memory too. Others differ, but are the
// same again with the same seed. To rewind, to restore and to play a state again lead to the same.
func TestBranches(t *testing.T) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			w, p := begun(t, g.Name, nil)
			p.line("", 2)
			p.step("nonsense")
			equal := namesOf(p.must("fork", map[string]any{"n": 2}))
			first := p.must("fork", map[string]any{"n": 2, "seed": 4})
			again := p.must("fork", map[string]any{"n": 2, "seed": 4})
			token := p.must("save", nil)["state"].(string)
			require.Equal(t, 8, w.guests.Counts().Sessions)
			before := p.state()
			played := p.line("", 4)
			require.NotEmpty(t, played)
			futures := [][]string{played}
			for _, b := range equal {
				require.Equal(t, played, p.line(b, 4))
			}
			for k, b := range namesOf(first) {
				other := p.line(b, 4)
				require.NotContains(t, futures, other)
				futures = append(futures, other)
				require.Equal(t, other, p.line(namesOf(again)[k], 4), "a seed is a future")
				s := w.want(t, 200, "GET", "/state?episode_id="+b, "")
				q := w.dial(t, "")
				q.reset(jsonOf(map[string]any{"seed": s["seed"], "moves": s["moves"], "reseeds": s["reseeds"]}))
				require.Equal(t, s["rewards"], q.state()["rewards"])
				require.Equal(t, observationOf(p.must("observe", map[string]any{"branch": b}))["text"],
					observationOf(q.must("observe", nil))["text"], "a state is enough to begin again")
				p.must("rewind", map[string]any{"branch": b, "turn": 3})
				require.Equal(t, p.line(b, 4), q.rewound(3, 4))
				require.NoError(t, q.CloseNow())
			}
			require.Equal(t, played, p.rewound(3, 4))
			p.must("restore", map[string]any{"state": token})
			require.Equal(t, played, p.line("", 4))
			p.must("restore", map[string]any{"state": token})
			require.Equal(t, before, p.state())
			require.EqualValues(t, 7, p.must("release", nil)["released"])
			require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 1 }, patience, 1e6)
			_, failed := p.use("restore", map[string]any{"state": token})
			require.Regexp(t, "no episode|the session is closed", failed, "a token is released with its session")
		})
	}
}

// rewound is line after so many turns.
func (p *player) rewound(turn, n int) []string {
	p.must("rewind", map[string]any{"turn": turn})
	return p.line("", n)
}

// Branches count for their token, end with the game they come from, and belong to their token, as kept positions do.
func TestBranchesAreLimited(t *testing.T) {
	w := start(t, "wintetris", server.Config{Tokens: []limits.Token{
		{Name: "ann", Secret: "a", MaxSessions: 4}, {Name: "bob", Secret: "b"}}}, nil)
	p, other := w.dial(t, "a"), w.dial(t, "b")
	p.reset(`{"seed": 5}`)
	p.fails("fork", map[string]any{"n": 4}, "max_sessions")
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 2 }, patience, 1e6, "none of them remains")
	branches := namesOf(p.must("fork", map[string]any{"n": 2}))
	token := p.must("save", nil)["state"].(string)
	p.fails("save", nil, "max_sessions")
	for _, forged := range []string{token[1:], token + "A", "A" + token[1:], "", "mcp:", token} {
		_, failed := other.use("restore", map[string]any{"state": forged})
		require.NotEmpty(t, failed, forged)
		other.refused(fmt.Sprintf(`{"type": "reset", "data": {"state": %q, "seed": 1}}`, cmp.Or(forged, "none")), "")
	}
	other.fails("play", map[string]any{"branch": branches[0], "move": "r0 x0"}, "no episode")
	p.fails("fork", map[string]any{"n": 0}, "want 1 to 1024")
	p.fails("fork", map[string]any{"n": 2000}, "want 1 to 1024")
	p.fails("fork", map[string]any{"n": 1, "seed": -1}, "whole number")
	p.fails("fork", map[string]any{"n": 1, "more": 1}, `unknown field "more"`)
	p.fails("rewind", map[string]any{"turn": 7}, "want 0 to 0")
	p.fails("release", map[string]any{"branches": []string{"x"}}, "no episode")
	p.must("release", map[string]any{"branches": branches[1:]})
	require.Len(t, namesOf(p.must("fork", map[string]any{"n": 1, "branch": branches[0]})), 1)
	require.NoError(t, p.CloseNow())
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 1 }, patience, 1e6)
}

// A step may name a branch, and a branch is an episode over HTTP and for a WebSocket of its own.
func TestBranchesThroughEveryDoor(t *testing.T) {
	w, p := begun(t, "wintetris", nil)
	b := namesOf(p.must("fork", map[string]any{"n": 3}))
	r := p.plays(fmt.Sprintf(`{"type": "step", "data": {"move": "r0 x3", "branch": %q}}`, b[0]))
	over := w.want(t, 200, "POST", "/step", fmt.Sprintf(`{"action": {"move": "r0 x3"}, "episode_id": %q}`, b[1]))
	socket := w.dialAt(t, "/ws?session_id="+b[2], "").step("r0 x3")
	for _, other := range []map[string]any{over, socket} {
		require.Equal(t, observationOf(r)["text"], observationOf(other)["text"])
	}
	require.EqualValues(t, 0, p.state()["step_count"])
	q := w.dial(t, "")
	r = q.reset(fmt.Sprintf(`{"state": %q, "reseed": 3, "episode_id": "mine"}`, b[0]))
	require.Equal(t, observationOf(socket)["scores"], observationOf(r)["scores"])
	s := q.state()
	require.Equal(t, "mine", s["episode_id"])
	require.Equal(t, []any{map[string]any{"turn": 1.0, "seed": 3.0}}, s["reseeds"])
}

// Children are the positions after the legal moves, with rewards, and values if they are asked for. They tell nothing of
// what is hidden.
func TestChildren(t *testing.T) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			_, p := begun(t, g.Name, func(c *Config) { c.Unit, c.Values = "places in the list", valuesByPlace })
			p.line("", 2)
			moves := p.must("legal_moves", nil)["legal_moves"].([]any)
			out := p.must("children", map[string]any{"values": true})
			require.Equal(t, "places in the list", out["unit"])
			all := out["children"].([]any)
			require.Len(t, all, len(moves))
			for k, c := range all {
				c := c.(map[string]any)
				require.Equal(t, moves[k], c["move"])
				require.EqualValues(t, k, c["value"])
				require.Contains(t, c["text"], "The position after "+c["move"].(string))
			}
			some := p.must("children", map[string]any{"moves": moves[:1]})["children"].([]any)
			require.Len(t, some, 1)
			require.Nil(t, some[0].(map[string]any)["value"])
			p.fails("children", map[string]any{"moves": []string{"nonsense"}}, "is no move")
			fork := namesOf(p.must("fork", map[string]any{"n": 1, "seed": 3}))[0]
			other := p.must("children", map[string]any{"branch": fork, "moves": moves[:1]})["children"].([]any)
			require.Equal(t, some, other, "another future, the same children")
			require.Equal(t, moves, p.must("legal_moves", nil)["legal_moves"], "nothing was played")
			r := p.must("play", map[string]any{"move": moves[0]})
			if g.MaxSeats == 1 {
				require.Equal(t, some[0].(map[string]any)["reward"], r["reward"])
			}
		})
	}
}

// valuesByPlace are Values that count the legal actions.
func valuesByPlace(_ context.Context, s env.State, seat int) (map[env.Action]float32, error) {
	out := map[env.Action]float32{}
	for k, a := range s.Legal(seat, nil) {
		out[a] = float32(k)
	}
	return out, nil
}

// Moves that are played again are those of a reset too, and refused where they do not fit. A limit of steps truncates, and
// then a reset is needed.
func TestMovesOfAReset(t *testing.T) {
	_, p := begun(t, "wintetris", func(c *Config) { c.StepLimit = 3 })
	r := p.reset(`{"seed": 5, "moves": ["r0 x0", "no", "r0 x3"]}`)
	require.Equal(t, []any{true, true}, []any{r["done"], observationOf(r)["truncated"]})
	require.Empty(t, movesOf(r))
	p.refused(`{"type": "step", "data": {"move": "r0 x1"}}`, "the episode is over")
	s := p.state()
	require.Equal(t, []any{"r0 x0", "no", "r0 x3"}, s["moves"])
	require.Equal(t, []any{0.0, -0.25, 0.0}, s["rewards"])
	for data, says := range map[string]string{
		`{"moves": ["r0 x0", "no", "r0 x3", "r0 x1"]}`:                                      "moves[3]: the episode is over before it",
		`{"moves": ["r0 x0"], "reseeds": [{"turn": 2, "seed": 1}]}`:                         "reseeds: turn 2, want 0 to 1",
		`{"moves": ["r0 x0"], "reseeds": [{"turn": 1, "seed": 1}, {"turn": 0, "seed": 1}]}`: "reseeds: turn 0",
		`{"moves": "r0"}`:      "moves is a string, want a list",
		`{"rules": "strange"}`: `rules is "strange", want relabelled`,
	} {
		p.refused(`{"type": "reset", "data": `+data+`}`, says)
	}
}

func TestTurnsAreAccountedFor(t *testing.T) {
	w, p := begun(t, "wintetris", nil)
	before := w.guests.Counts().Memory
	for range turnsAhead + 1 {
		p.step("no")
	}
	require.Equal(t, before+2*turnsAhead*turnBytes, w.guests.Counts().Memory)
	p.must("rewind", map[string]any{"turn": 3})
	require.Equal(t, before+turnsAhead*turnBytes, w.guests.Counts().Memory)
	p.reset("{}")
	require.Equal(t, before, w.guests.Counts().Memory)
}

// Whatever the arguments are, a method answers with a value or with an error for the client.
func FuzzArguments(f *testing.F) {
	w := start(f, "wintetris", server.Config{}, nil)
	for _, m := range w.methods {
		for _, text := range []string{`{}`, `{"n": 2, "seed": 4}`, `{"turn": 0, "branch": "x"}`, `{"state": "x"}`,
			`{"moves": ["r0 x0"], "values": true}`, `{"move": "r0 x1"}`, `{"branches": []}`} {
			f.Add(m.name, []byte(text))
		}
	}
	p := envtest.Must(w.newSession(nil))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		got, found, err := w.call(p, name, b)
		require.Equal(t, slices.ContainsFunc(w.methods, func(m method) bool { return m.name == name }), found)
		if err != nil {
			require.NotEmpty(t, w.failureOf(err).Error())
			require.NotEqual(t, 500, w.failureOf(err).status)
			return
		}
		envtest.Must(json.Marshal(got.value))
		envtest.Must(release(p, releaseArguments{}))
	})
}

// An injected state begins an episode with the state of another one, whose last reward it returns, or with a token.
func TestInjectedState(t *testing.T) {
	w, p := begun(t, "blockbattle", nil)
	q := w.dial(t, "")
	p.line("", 3)
	s := p.state()
	r := q.reset(fmt.Sprintf(`{"seed": 1, "episode_id": "mine", "injected_state": %s}`, jsonOf(s)))
	require.Equal(t, s["rewards"].([]any)[2], r["reward"])
	s["episode_id"] = "mine"
	require.Equal(t, s, q.state())
	token := p.must("save", nil)["state"].(string)
	require.Nil(t, q.reset(fmt.Sprintf(`{"injected_state": {"state": %q}}`, token))["reward"])
	require.Equal(t, s["moves"], q.state()["moves"])
	require.Equal(t, false, q.reset(`{"seed": 5, "injected_state": null}`)["done"])
	for data, says := range map[string]string{`"x"`: "is no JSON object", `{"moves": 3}`: "moves is a number"} {
		q.refused(`{"type": "reset", "data": {"injected_state": `+data+`}}`, says)
	}
}
