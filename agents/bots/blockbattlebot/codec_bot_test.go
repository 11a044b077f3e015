package blockbattlebot

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// agentFunc is an agent made of a function.
type agentFunc func(ctx context.Context, s env.State, seat int) (env.Action, error)

func (f agentFunc) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	return f(ctx, s, seat)
}

// talk says text to a bot and returns its answers and notes.
func talk(t testing.TB, text string, agent env.Agent) (answers []string, notes string) {
	t.Helper()
	var out, noted bytes.Buffer
	b := contest.Bot{
		Codec: NewCodec(blockbattle.ClassicDialect, &noted), Agent: agent, Notes: &noted,
		State: blockbattle.Game.New(2), View: blockbattle.Game.New(2),
	}
	require.NoError(t, b.Play(t.Context(), strings.NewReader(text), &out))
	if out.Len() == 0 {
		return nil, noted.String()
	}
	require.True(t, strings.HasSuffix(out.String(), "\n"))
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), noted.String()
}

// dialogue is what a host says in the first round, with some lines changed: an empty
// replacement leaves the line out.
func dialogue(changes ...string) string {
	s := blockbattle.Game.New(2).(*blockbattle.State)
	s.Reset(4)
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
	for _, c := range []struct {
		name, said, note string
	}{
		{"all as it should be", dialogue(), ""},
		{"carriage returns", strings.ReplaceAll(dialogue(), "\n", "\r\n"), ""},
		{"no line feed at the end", strings.TrimSuffix(dialogue(), "\n"), ""},
		{"blanks", strings.ReplaceAll(dialogue(), " ", "   "), ""},
		{"unknown lines", "hello\nsettings colour red\nupdate game weather fine\nupdate player1 mood good\n" +
			"update\nsettings\naction dance 5\n" + dialogue(), "unknown"},
		{"no settings", dialogue("settings", ""), ""},
		{"no time", dialogue("action", "action moves"), ""},
		{"an odd time", dialogue("action", "action moves -5"), "time bank"},
		{"no opponent", dialogue("update player2", ""), ""},
		{"a third player", "update player3 combo 1\n" + dialogue(), ""},
		{"no board", dialogue("update player1 field", ""), "without a board"},
		{"a short board", board("0,0;0,0"), "7 characters"},
		{"a broken board", board(strings.Replace(field, ";", "!", 1)), "after row 0"},
		{"cells of an unknown kind", board("7" + field[1:]), "row 0, column 0"},
		{"a half solid row", board(field[:len(field)-1] + "3"), "solid only in part"},
		{"air under solid cells", board(strings.Repeat("3,", 9) + "3;" + field[20:]), "not solid"},
		{"a full board", board(strings.ReplaceAll(field, "0", "2")), "block the spawn"},
		{"no piece", dialogue("update game this_piece", ""), "without piece"},
		{"an unknown piece", dialogue("update game this_piece_type", "update game this_piece_type X"), "is no piece"},
		{"another board size", dialogue("settings field_width", "settings field_width 12"), "knows only 10"},
		{"negative points", dialogue("update player1 row_points", "update player1 row_points -1"), "not a count"},
		{"absurd points", dialogue("update player1 row_points", "update player1 row_points 99999999999999999999"),
			"not a count"},
		{"an endless line", strings.Repeat("x", 1<<20) + "\n" + dialogue(), "more than"},
		{"an unknown self", dialogue("settings your_bot", "settings your_bot nobody"), "nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers, notes := talk(t, c.said, search.NewFirst())
			require.Len(t, answers, 1)
			if c.note == "" {
				require.Empty(t, notes)
			}
			require.Contains(t, notes, c.note)
			tokens, odd := blockbattle.ParseAnswer(answers[0], nil)
			require.Empty(t, odd)
			require.NotEmpty(t, tokens)
		})
	}
}

// A round that made no sense does not spoil the next one.
func TestBotRecovers(t *testing.T) {
	bad := dialogue("update player1 field", "update player1 field 0")
	answers, _ := talk(t, dialogue()+bad+dialogue(), search.NewFirst())
	require.Len(t, answers, 3)
	require.Equal(t, answers[0], answers[2])
	require.Equal(t, answers[0], answers[1], "the position heard before still stands")
}

func TestBotCoversForItsAgent(t *testing.T) {
	want, _ := talk(t, dialogue(), search.NewFirst())
	for name, agent := range map[string]agentFunc{
		"failing":   func(context.Context, env.State, int) (env.Action, error) { return 0, errors.New("tired") },
		"panicking": func(context.Context, env.State, int) (env.Action, error) { panic("tired") },
		"cheating":  func(context.Context, env.State, int) (env.Action, error) { return 1234, nil },
		"spoiling": func(_ context.Context, s env.State, seat int) (env.Action, error) {
			s.Reset(99)
			return 9999, nil
		},
	} {
		answers, notes := talk(t, dialogue(), agent)
		require.Equal(t, want, answers, name)
		require.NotEmpty(t, notes, name)
	}
	none := agentFunc(func(context.Context, env.State, int) (env.Action, error) { return env.None, nil })
	answers, _ := talk(t, dialogue(), none)
	require.Equal(t, []string{"no_moves"}, answers)
}

func TestBotGivesItsAgentADeadlineWithinTheBank(t *testing.T) {
	for _, bank := range []string{"10000", "500", "60", "1"} {
		var left time.Duration
		agent := agentFunc(func(ctx context.Context, _ env.State, _ int) (env.Action, error) {
			at, ok := ctx.Deadline()
			require.True(t, ok)
			left = time.Until(at)
			return env.None, nil
		})
		_, _ = talk(t, dialogue("action", "action moves "+bank), agent)
		most, err := time.ParseDuration(bank + "ms")
		require.NoError(t, err)
		require.Less(t, left, most/2)
	}
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
			turn, err := c.ReadTurn(bufioReader(in), got)
			require.NoError(t, err)
			require.Equal(t, d, c.Dialect)
			require.Equal(t, contest.Turn{Seat: seat, Budget: time.Second}, turn)
			require.Equal(t, s.Sides, got.(*blockbattle.State).Sides)
		}
	}
}
