package blockbattlebot

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// talk says text to a bot and returns its answers and notes.
func talk(t testing.TB, text string, agent env.Agent) (answers []string, notes string) {
	t.Helper()
	return envtest.Must2(toybot.Talk(t, Entry, blockbattle.Game, agent, text))
}

// dialogue is what a host says in the first round, with some lines changed: an empty
// replacement leaves the line out.
func dialogue(changes ...string) string {
	s := envtest.Start[*blockbattle.State](blockbattle.Game, 2, 4)
	d := blockbattle.ClassicDialect
	lines := append(d.Settings(0, 10_000, 500), d.Request(s, 0, 10_000)...)
	var out []string
	for _, l := range lines {
		for i := 0; i+1 < len(changes); i += 2 {
			if strings.HasPrefix(l, changes[i]) {
				l = changes[i+1]
			}
		}
		if l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n") + "\n"
}

func TestBotAnswersWhateverItHears(t *testing.T) {
	board := func(field string) string { return dialogue("update player1 field", "update player1 field "+field) }
	field := strings.TrimSuffix(strings.Repeat(strings.Repeat("0,", 9)+"0;", 20), ";")
	legal := func(answer string) bool {
		tokens, odd := blockbattle.ParseAnswer(answer, nil)
		return len(tokens) > 0 && len(odd) == 0
	}
	toybot.Hears(t, Entry, blockbattle.Game, dialogue(), legal, map[string]string{
		strings.ReplaceAll(dialogue(), " ", "   "): "",
		"hello\nsettings colour red\nupdate game weather fine\nupdate player1 mood good\nupdate\nsettings\naction dance 5\n" +
			dialogue(): "unknown",
		dialogue("settings", ""):                                                                "",
		dialogue("action", "action moves"):                                                      "",
		dialogue("action", "action moves -5"):                                                   "time bank",
		dialogue("update player2", ""):                                                          "",
		"update player3 combo 1\n" + dialogue():                                                 "",
		dialogue("update player1 field", ""):                                                    "without a board",
		board("0,0;0,0"):                                                                        "7 characters",
		board(strings.Replace(field, ";", "!", 1)):                                              "after row 0",
		board("7" + field[1:]):                                                                  "row 0, column 0",
		board(field[:len(field)-1] + "3"):                                                       "solid only in part",
		board(strings.Repeat("3,", 9) + "3;" + field[20:]):                                      "not solid",
		board(strings.ReplaceAll(field, "0", "2")):                                              "block the spawn",
		dialogue("update game this_piece", ""):                                                  "without piece",
		dialogue("update game this_piece_type", "update game this_piece_type X"):                "is no piece",
		dialogue("settings field_width", "settings field_width 12"):                             "knows only 10",
		dialogue("update player1 row_points", "update player1 row_points -1"):                   `"-1" is not a count`,
		dialogue("update player1 row_points", "update player1 row_points 99999999999999999999"): "9\" is not a count",
		strings.Repeat("x", 1<<20) + "\n" + dialogue():                                          "more than",
		dialogue("settings your_bot", "settings your_bot nobody"):                               "nobody",
	})
	none := toybot.Agent(func(context.Context, env.State, int) (env.Action, error) { return env.None, nil })
	answers, _ := talk(t, dialogue(), none)
	require.Equal(t, []string{"no_moves"}, answers)
}

// A round that made no sense does not spoil the next one.
func TestBotRecovers(t *testing.T) {
	bad := dialogue("update player1 field", "update player1 field 0")
	answers, _ := talk(t, dialogue()+bad+dialogue(), search.NewFirst())
	require.Len(t, answers, 3)
	require.Equal(t, answers[0], answers[2])
	require.Equal(t, answers[0], answers[1], "the position heard before still stands")
}

// The port tells a bot its own values under the opponent's name; the bot plays on.
func TestBotLearnsTheDialectFromTheRequest(t *testing.T) {
	s := blockbattle.Game.New(2).(*blockbattle.State)
	for _, d := range []blockbattle.Dialect{blockbattle.ClassicDialect, blockbattle.PortDialect} {
		for seat := range 2 {
			lines := append(d.Settings(seat, 1000, 0), d.Request(s, seat, 1000)...)
			c := NewCodec(1-d, nil)
			got := blockbattle.Game.New(2)
			in := strings.NewReader(strings.Join(lines, "\n") + "\n")
			turn := envtest.Must(c.ReadTurn(bufioReader(in), got))
			require.Equal(t, d, c.Dialect)
			require.Equal(t, contest.Turn{Seat: seat, Budget: time.Second}, turn)
			require.Equal(t, s.Sides, got.(*blockbattle.State).Sides)
		}
	}
}
