package server_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/games"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// Records of episodes in progress go on elsewhere: each episode is recorded once, whole, as it would have been.
func TestRecordingsGoOn(t *testing.T) {
	here, there := start(t, real(2)), start(t, real(2))
	for _, game := range games.All {
		for _, mode := range []string{"NextStep", "SameStep"} {
			t.Run(game.Name+" "+mode, func(t *testing.T) {
				o := map[string]any{"num_envs": 5, "seed": 5, "autoreset": mode, "max_episode_steps": 6, "log": true}
				if game.MaxSeats > 1 {
					o["opponents"], o["seats"] = opponentsOf(game, "random|first"), game.MaxSeats
				}
				open := func(p *place) *client.Games {
					g, err := dial(t, p.unix).Open(game.Name, o)
					require.NoError(t, err)
					require.NoError(t, g.Call("record", nil, map[string]any{"every": 2}))
					return g
				}
				a, b, whole := open(here), open(there), open(here)
				require.NoError(t, a.CallSlab("reset"))
				require.NoError(t, whole.CallSlab("reset"))
				logged(t, a, 0, 10)
				early := fetch(t, a, nil)
				var c struct {
					saved
					Recordings []byte `msgpack:"recordings"`
				}
				require.NoError(t, a.Call("checkpoint", &c, nil, map[string]any{"recordings": true}))
				require.NotEmpty(t, c.Recordings)
				require.NoError(t, b.CallSlab("resume", nil, c.Head, c.Games, map[string]any{"recordings": c.Recordings}))
				lengths, actions, moves := logged(t, a, 10, 9)
				require.NoError(t, b.Call("replay", nil, nil, lengths, actions, moves))
				require.NoError(t, b.CallSlab("clone", u32(), u32()), "to see the games")
				logged(t, b, 19, 12)
				logged(t, whole, 0, 31)
				late, last := stopRecording(t, b)
				want, all := stopRecording(t, whole)
				got := append(early.Lines, late...)
				require.ElementsMatch(t, bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n")))
				require.NotEmpty(t, recordsIn(t, want, game))
				require.Equal(t, all.Finished, early.Finished+last.Finished)
				require.Zero(t, last.Dropped+last.Interrupted)
			})
		}
	}
}

// Malformed recordings, and those of games that are not resumed, are refused and change nothing.
func TestRecordingsAreRefused(t *testing.T) {
	g, err := dial(t, start(t, nil).unix).Open("toy:pick", map[string]any{"num_envs": 2, "opponents": map[int]string{1: "first"}})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	var c saved
	require.NoError(t, g.Call("checkpoint", &c, nil))
	resume := func(recordings string) error {
		return g.CallSlab("resume", nil, c.Head, c.Games, map[string]any{"recordings": []byte(recordings)})
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
		err := resume(recordings)
		require.ErrorContains(t, err, says)
		require.Equal(t, wire.BadParams, code(t, err))
	}
	long := bytes.Replace([]byte(line), []byte("[3]"), append([]byte("[3"), append(bytes.Repeat([]byte(",3"), 40000), ']')...), 1)
	require.NoError(t, resume(string(long)), "more than its memory holds: the record is dropped")
	require.Equal(t, 1, fetch(t, g, nil).Dropped)
	require.NoError(t, resume(line))
}
