package tetrisduelbot

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/tetrisduel"
)

// What the host writes the bot reads back: the same position to the seat that moves.
func TestDialogueThereAndBack(t *testing.T) {
	for seat := range 2 {
		s := envtest.Start[*tetrisduel.State](tetrisduel.Game, 2, uint64(7+seat))
		var said bytes.Buffer
		codec := NewCodec(&said)
		got := &tetrisduel.State{}
		random := search.NewGreedy(tetrisduel.Game, NewHand())
		lines := Greeting(s, seat, 15*time.Second)
		turns := 0
		for s.Acting() != 0 && turns < 60 {
			if s.Mover() == seat {
				turns++
				left := 15*time.Second - time.Duration(turns)*time.Millisecond
				lines = append(lines, Request(s, left, turns%2 == 0)...)
				turn := envtest.Must(codec.ReadTurn(bufio.NewReader(strings.NewReader(strings.Join(lines, "\n")+"\n")), got))
				require.Equal(t, contest.Turn{Seat: seat, Budget: left, Turns: 281 - turns}, turn)
				want := *s
				want.Rand = got.Rand // which draws nothing any more
				require.Equal(t, &want, got)
				require.NoError(t, got.Check())
				lines = nil
			}
			view := *s
			a := envtest.Must(random.Act(context.Background(), &view, s.Mover()))
			if s.Mover() == seat {
				b, ok := Judge(s, codec.Answer(got, seat, a))
				require.True(t, ok)
				require.Equal(t, a, b)
			}
			s.Step(env.Alone(s.Mover(), a))
		}
		require.Equal(t, "ready\n", said.String())
	}
}

func TestJudge(t *testing.T) {
	s := envtest.Start[*tetrisduel.State](tetrisduel.Game, 2, 1)
	good := tetrisduel.Text(s.Legal(0, nil)[0])
	for _, line := range []string{good, " " + good + " ", strings.ReplaceAll(good, " ", "\t")} {
		_, ok := Judge(s, line)
		require.True(t, ok, line)
	}
	for _, line := range []string{
		"", "none", good + " 1", "1 2", "0 0 0", "-1 0 0", "15 0 0", "14 10 0", "14 1 4", "14 1.0 0", "[14, 1, 0]",
		"99999999999999999999 1 1",
	} {
		a, ok := Judge(s, line)
		require.False(t, ok, line)
		require.Equal(t, env.None, a)
	}
	_, ok := Judge(s, NewCodec(io.Discard).Answer(s, 0, env.None))
	require.False(t, ok, "no move is no legal answer")
}

// requestText is a whole dialogue up to the first request of seat 1.
func requestText() string {
	s := envtest.Start[*tetrisduel.State](tetrisduel.Game, 2, 1)
	return strings.Join(append(Greeting(s, 0, time.Second), Request(s, time.Second, true)...), "\n") + "\n"
}

func TestBotAnswersWhateverItHears(t *testing.T) {
	good, empty := requestText(), strings.Repeat("..........\n", 25)
	odd := map[string]string{regexp.MustCompile(`blocks \d`).ReplaceAllString(good, "blocks 8"): "no sequence"}
	for _, c := range []struct{ old, with, want string }{
		{"blocks ", "block ", "no sequence"},
		{"blocks ", "blocks 1", "no sequence"},
		{"seat 1", "seat 2", "half-turn 1, round 1 of seat 2"},
		{"turn 1 1 ", "turn 561 281 ", "half-turn 561"},
		{"turn 1 1 ", "turn 1 2 ", "round 2"},
		{"turn 1 1 ", "turn 1 ", "7 words, want 8"},
		{"turn 1 1 ", "turn one 1 ", `"one" is no number`},
		{"turn 1 1 ", "turn 1 1 9", "block 9"},
		{"last -", "list -", "want the last placement"},
		{"last -", "last 15 0 0", "15 0 0"},
		{"..........\n..........\nmoves", "..........\n.....x....\nmoves", "board row 24"},
		{"..........\nmoves", ".........\nmoves", "board row 24: 9 cells"},
		{"..........\nmoves", "moves", "25 lines between turn and moves"},
		{empty, strings.Repeat("##########\n", 25), "full rows"},
		{empty, strings.Repeat("#########.\n", 25), "no placement"},
	} {
		said := strings.Replace(good, c.old, c.with, 1)
		require.NotEqual(t, good, said, c.with)
		odd[said] = c.want
	}
	placement := regexp.MustCompile(`^(\d+ \d+ \d|none)$`)
	toybot.Hears(t, Entry, tetrisduel.Game, good, placement.MatchString, odd)
	answers, _, err := toybot.Talk(t, Entry, tetrisduel.Game, search.NewFirst(), good+good+"end 1 limit 3 2\n"+good)
	require.NoError(t, err)
	require.Len(t, answers, 2, "nothing follows the end")
}

func FuzzReadTurn(f *testing.F) {
	f.Add(requestText())
	f.Add(strings.Replace(requestText(), "..........", "#.#######.", 9))
	f.Add("turn\nmoves 3\n\n\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		codec, s := NewCodec(io.Discard), &tetrisduel.State{}
		r := bufio.NewReader(strings.NewReader(requestText() + text))
		for {
			turn, err := codec.ReadTurn(r, s)
			if err == nil {
				require.NoError(t, s.Check())
				require.True(t, s.Acting().Has(turn.Seat))
			} else if !errors.Is(err, contest.ErrOutOfSync) {
				return
			}
		}
	})
}

func FuzzJudge(f *testing.F) {
	f.Add("14 1 0")
	f.Fuzz(func(t *testing.T, line string) {
		s := envtest.Start[*tetrisduel.State](tetrisduel.Game, 2, 1)
		if a, ok := Judge(s, line); ok {
			require.Contains(t, s.Legal(0, nil), a)
		}
	})
}
