package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// parsed asks a server what actions texts are.
func parsed(c *client.Client, game string, texts ...string) ([]byte, error) {
	var out lists
	err := c.Call("parse", &out, game, map[string]any{"texts": texts})
	return out.Actions, err
}

// In every game, parse returns the actions that text was asked about, and its errors show a text that is right.
func TestParseIsTheInverseOfText(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Games = games.All })
	c := dial(t, p.unix)
	for _, g := range games.All {
		actions := u16(0, 3, uint16(g.Actions-1), 65535, 1)
		back, err := parsed(c, g.Name, result[[]string](t, c, "text", g.ID, actions)...)
		require.NoError(t, err)
		require.Equal(t, actions, back, g.Name)
		_, err = parsed(c, g.Name, "none", "up up and away")
		refused(t, wire.BadParams, `parse: texts[1] "up up and away" is no action of `+g.Name+`: want a text such as "`, err)
		_, example, _ := strings.Cut(err.Error(), `such as "`)
		_, err = parsed(c, g.Name, strings.TrimRight(example, `"`))
		require.NoError(t, err, "the example of the error")
	}
	_, err := parsed(c, "blocking", strings.Repeat("A", 100_000))
	require.Less(t, len(err.Error()), 300)
	require.Equal(t, wire.UnknownGame, code(t, c.Call("parse", nil, "chess", map[string]any{"texts": []string{"e4"}})))
	require.Equal(t, wire.BadParams, code(t, c.Call("parse", nil, "blocking", map[string]any{"texts": "A"})))
}

// A row's text says whose turn it is and what may be played, for every game and form of rows.
func TestObserveText(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Games = games.All; c.Limits.MaxReply = 64 << 10 })
	for _, g := range games.All {
		for _, rows := range []string{"seat", "acting"} {
			c := dial(t, p.unix)
			h := startGames(t, c, g.Name, map[string]any{"num_envs": 3, "rows": rows, "seed": 1})
			roll(t, h, 3)
			require.NoError(t, h.CallSlab("clone", []byte{}, []byte{}))
			type described struct {
				Count int      `msgpack:"count"`
				Texts []string `msgpack:"texts"`
			}
			out := result[described](t, h, "observe_text", nil)
			require.Equal(t, h.RowsPerEnv*out.Count, len(out.Texts))
			require.Positive(t, out.Count)
			frame := result[string](t, h, "render", 0)
			mask, seats := h.Field("mask"), h.Field("seat")
			for r, text := range out.Texts[:h.RowsPerEnv] {
				require.NotContains(t, text, "\x1b")
				require.True(t, strings.HasPrefix(text, g.ID+": "), text)
				require.Contains(t, text, frame)
				_, list, turn := strings.Cut(text, " legal actions: ")
				require.Equal(t, seats[r] != 0xff, turn)
				require.Equal(t, turn, strings.Contains(text, "It is your turn."))
				if !turn {
					continue
				}
				actions, err := parsed(c, g.Name, strings.Split(strings.TrimSpace(list), "; ")...)
				require.NoError(t, err)
				each := len(mask) / h.Rows
				want := make([]byte, each)
				for _, a := range numbers[uint16](actions) {
					want[a>>3] |= 1 << (a & 7)
				}
				require.Equal(t, mask[r*each:(r+1)*each], want)
			}
			out = result[described](t, h, "observe_text", u32(2), map[string]any{"legal": false})
			require.Equal(t, 1, out.Count)
			require.NotContains(t, out.Texts[0], "legal actions")
		}
	}
}
