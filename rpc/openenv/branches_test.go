package openenv

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
)

// use calls a tool by an action over a WebSocket, and returns its result or the text of its error.
func (p *player) use(tool string, arguments map[string]any) (map[string]any, string) {
	p.t.Helper()
	data := must(jsonOf(map[string]any{"type": "call_tool", "tool_name": tool, "arguments": arguments}))
	kind, r := p.send(`{"type": "step", "data": ` + data + `}`)
	require.Equal(p.t, "observation", kind, r)
	o := observationOf(r)
	if e, ok := o["error"].(map[string]any); ok {
		return nil, e["message"].(string)
	}
	return o["result"].(map[string]any), ""
}

// must is use of a tool that does not fail.
func (p *player) must(tool string, arguments map[string]any) map[string]any {
	p.t.Helper()
	out, failed := p.use(tool, arguments)
	require.Empty(p.t, failed, tool)
	return out
}

// fails is use of a tool that says why it fails.
func (p *player) fails(tool string, arguments map[string]any, says string) {
	p.t.Helper()
	_, failed := p.use(tool, arguments)
	require.Contains(p.t, failed, says)
}

// line plays n moves in a branch, "" for none, and returns all results as text, without the names of episodes.
func (p *player) line(branch string, n int) (all []string) {
	p.t.Helper()
	for k := range n {
		moves := p.must("legal_moves", map[string]any{"branch": branch})["legal_moves"].([]any)
		if len(moves) == 0 {
			break
		}
		r := p.must("play", map[string]any{"branch": branch, "move": moves[(k*7)%len(moves)]})
		delete(observationOf(r), "metadata")
		all = append(all, string(must(json.Marshal(r))))
	}
	return all
}

func namesOf(result map[string]any) (out []string) {
	for _, b := range result["branches"].([]any) {
		out = append(out, b.(string))
	}
	return out
}

// Branches with an equal future play on as the game does, against opponents with a memory too. Others differ, but are the
// same again with the same seed. To rewind, to restore and to play a state again lead to the same.
func TestBranches(t *testing.T) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			w, p := begun(t, g.Name, nil)
			p.line("", 2)
			p.step("nonsense")
			equal := namesOf(p.must("fork", map[string]any{"n": 2}))
			first := p.must("fork", map[string]any{"n": 2, "seed": 9})
			again := p.must("fork", map[string]any{"n": 2, "seed": 9})
			token := p.must("save", nil)["state"].(string)
			require.Equal(t, 8, w.guests.Counts().Sessions)
			_, before := p.send(`{"type": "state"}`)
			played := p.line("", 4)
			require.NotEmpty(t, played)
			for _, b := range equal {
				require.Equal(t, played, p.line(b, 4))
			}
			for k, b := range namesOf(first) {
				require.Equal(t, p.line(b, 4), p.line(namesOf(again)[k], 4), "a seed is a future")
				s := w.want(t, 200, "GET", "/state?episode_id="+b, "")
				data := must(jsonOf(map[string]any{"seed": s["seed"], "moves": s["moves"], "reseeds": s["reseeds"]}))
				q := w.dial(t, "")
				q.send(`{"type": "reset", "data": ` + data + `}`)
				_, replayed := q.send(`{"type": "state"}`)
				require.Equal(t, s["rewards"], replayed["rewards"])
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
			_, after := p.send(`{"type": "state"}`)
			require.Equal(t, before, after)
			require.EqualValues(t, 7, p.must("release", nil)["released"])
			require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 1 }, patience, 1e6)
			_, failed := p.use("restore", map[string]any{"state": token})
			require.Regexp(t, "no episode|the session is closed", failed, "a token is released with its session")
		})
	}
}

// rewound is line after so many turns.
func (p *player) rewound(turn, n int) []string {
	p.t.Helper()
	p.must("rewind", map[string]any{"turn": turn})
	return p.line("", n)
}

// Futures that are drawn anew are other ones.
func TestFuturesDiffer(t *testing.T) {
	_, p := begun(t, "wintetris", nil)
	seen := map[string]bool{}
	for _, b := range namesOf(p.must("fork", map[string]any{"n": 8, "seed": 1})) {
		seen[fmt.Sprint(p.line(b, 6))] = true
	}
	require.Greater(t, len(seen), 4)
}

// Branches count for their token, end with the game they come from, and belong to their token, as kept positions do.
func TestBranchesAreLimited(t *testing.T) {
	w := start(t, "wintetris", server.Config{Tokens: []limits.Token{
		{Name: "ann", Secret: "a", MaxSessions: 4}, {Name: "bob", Secret: "b"}}}, nil)
	p, other := w.dial(t, "a"), w.dial(t, "b")
	p.send(`{"type": "reset", "data": {"seed": 5}}`)
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
	_, r := p.send(fmt.Sprintf(`{"type": "step", "data": {"move": "r0 x3", "branch": %q}}`, b[0]))
	over := w.want(t, 200, "POST", "/step", fmt.Sprintf(`{"action": {"move": "r0 x3"}, "episode_id": %q}`, b[1]))
	_, socket := w.dialAt(t, "/ws?session_id="+b[2], "").step("r0 x3")
	for _, other := range []map[string]any{over, socket} {
		require.Equal(t, observationOf(r)["text"], observationOf(other)["text"])
	}
	_, s := p.send(`{"type": "state"}`)
	require.EqualValues(t, 0, s["step_count"])
	q := w.dial(t, "")
	_, r = q.send(fmt.Sprintf(`{"type": "reset", "data": {"state": %q, "reseed": 3, "episode_id": "mine"}}`, b[0]))
	require.Equal(t, observationOf(socket)["scores"], observationOf(r)["scores"])
	_, s = q.send(`{"type": "state"}`)
	require.Equal(t, "mine", s["episode_id"])
	require.Equal(t, []any{map[string]any{"turn": 1.0, "seed": 3.0}}, s["reseeds"])
}

// Children are the positions after the legal moves, with rewards, and values if they are asked for. They tell nothing of
// what is hidden.
func TestChildren(t *testing.T) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			w := start(t, g.Name, server.Config{}, func(c *Config) {
				c.Unit = "places in the list"
				c.Values = valuesByPlace
			})
			p := w.dial(t, "")
			p.send(`{"type": "reset", "data": {"seed": 5}}`)
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

// Moves that are played again are those of a reset too, and refused where they do not fit.
func TestMovesOfAReset(t *testing.T) {
	w := start(t, "wintetris", server.Config{}, func(c *Config) { c.StepLimit = 3 })
	p := w.dial(t, "")
	_, r := p.send(`{"type": "reset", "data": {"seed": 5, "moves": ["r0 x0", "no", "r0 x3"]}}`)
	require.Equal(t, true, r["done"])
	_, s := p.send(`{"type": "state"}`)
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

// Turns take memory of the token.
func TestTurnsAreAccountedFor(t *testing.T) {
	w, p := begun(t, "wintetris", nil)
	before := w.guests.Counts().Memory
	for range turnsAhead + 1 {
		p.step("no")
	}
	require.Equal(t, before+2*turnsAhead*turnBytes, w.guests.Counts().Memory)
	p.must("rewind", map[string]any{"turn": 3})
	require.Equal(t, before+turnsAhead*turnBytes, w.guests.Counts().Memory)
	p.send(`{"type": "reset"}`)
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
	p := must(w.newSession(nil))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		got, found, err := w.call(p, name, b)
		require.Equal(t, slices.ContainsFunc(w.methods, func(m method) bool { return m.name == name }), found)
		if err != nil {
			require.NotEmpty(t, w.failureOf(err).Error())
			require.NotEqual(t, 500, w.failureOf(err).status)
			return
		}
		must(json.Marshal(got.value))
		must(release(p, releaseArguments{}))
	})
}

// An injected state begins an episode with the state of another one, whose last reward it returns, or with a token.
func TestInjectedState(t *testing.T) {
	w := start(t, "blockbattle", server.Config{}, nil)
	p, q := w.dial(t, ""), w.dial(t, "")
	p.send(`{"type": "reset", "data": {"seed": 5}}`)
	p.line("", 3)
	_, s := p.send(`{"type": "state"}`)
	b := must(json.Marshal(s))
	_, r := q.send(fmt.Sprintf(`{"type": "reset", "data": {"seed": 1, "episode_id": "mine", "injected_state": %s}}`, b))
	require.Equal(t, s["rewards"].([]any)[2], r["reward"])
	_, again := q.send(`{"type": "state"}`)
	s["episode_id"] = "mine"
	require.Equal(t, s, again)
	token := p.must("save", nil)["state"].(string)
	_, r = q.send(fmt.Sprintf(`{"type": "reset", "data": {"injected_state": {"state": %q}}}`, token))
	require.Nil(t, r["reward"])
	_, again = q.send(`{"type": "state"}`)
	require.Equal(t, s["moves"], again["moves"])
	_, r = q.send(`{"type": "reset", "data": {"seed": 5, "injected_state": null}}`)
	require.Equal(t, false, r["done"])
	for data, says := range map[string]string{`"x"`: "is no JSON object", `{"moves": 3}`: "moves is a number"} {
		q.refused(`{"type": "reset", "data": {"injected_state": `+data+`}}`, says)
	}
}
