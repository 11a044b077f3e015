package tetrisduelbot

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// What the host writes the bot reads back: the same position to the seat that moves.
func TestDialogueThereAndBack(t *testing.T) {
	for seat := range 2 {
		s := &tetrisduel.State{}
		s.Reset(uint64(7 + seat))
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
				turn, err := codec.ReadTurn(bufio.NewReader(strings.NewReader(strings.Join(lines, "\n")+"\n")), got)
				require.NoError(t, err)
				require.Equal(t, contest.Turn{Seat: seat, Budget: left, Turns: 281 - turns}, turn)
				sameToMover(t, s, got, seat)
				lines = nil
			}
			view := *s
			a, err := random.Act(context.Background(), &view, s.Mover())
			require.NoError(t, err)
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

func sameToMover(t *testing.T, want, got *tetrisduel.State, seat int) {
	t.Helper()
	require.NoError(t, got.Check())
	require.Equal(t, want.Cells, got.Cells)
	require.Equal(t, want.Deal, got.Deal)
	require.Equal(t, want.Points, got.Points)
	require.Equal(t, want.Turn, got.Turn)
	require.Equal(t, want.Combo, got.Combo)
	require.Equal(t, want.Flag, got.Flag)
	require.Equal(t, want.Last, got.Last)
	require.Equal(t, want.Legal(seat, nil), got.Legal(seat, nil))
}

func TestRequestIsAsDocumented(t *testing.T) {
	s := &tetrisduel.State{}
	s.Reset(1)
	greet := Greeting(s, 1, 20*time.Second)
	require.Equal(t, []string{"tetrisduel 1", "seat 2", "time 20000"}, greet[:3])
	require.Regexp(t, `^blocks [1-7]{560}$`, greet[3])
	lines := Request(s, 1500*time.Millisecond, true)
	require.Regexp(t, `^turn 1 1 [1-7] 0 0 0 0 1500$`, lines[0])
	require.Equal(t, "last -", lines[1])
	require.Len(t, lines, 2+25+1+len(s.Legal(0, nil)))
	require.Equal(t, "..........", lines[2])
	a := s.Legal(0, nil)[3]
	s.Step(env.Alone(0, a))
	lines = Request(s, time.Second, false)
	require.Equal(t, "last "+tetrisduel.Text(a), lines[1])
	require.Equal(t, "moves 0", lines[len(lines)-1])
	require.Contains(t, strings.Join(lines[2+10:2+15], ""), "#")
	require.Equal(t, "end 2 timeout 0 0", End(s, 1, "timeout"))
	require.Equal(t, "end 0 limit 0 0", End(s, -1, "limit"))
}

func TestJudge(t *testing.T) {
	s := &tetrisduel.State{}
	s.Reset(1)
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
	s := &tetrisduel.State{}
	s.Reset(1)
	return strings.Join(append(Greeting(s, 0, time.Second), Request(s, time.Second, true)...), "\n") + "\n"
}

func TestOddDialogueIsOutOfSync(t *testing.T) {
	good := requestText()
	for name, c := range map[string]struct{ old, with, want string }{
		"no blocks":     {"blocks ", "block ", "no sequence"},
		"not packages":  {"blocks 1", "blocks 8", "no sequence"},
		"short blocks":  {"blocks ", "blocks 1", "no sequence"},
		"other seat":    {"seat 1", "seat 2", "half-turn 1, round 1 of seat 2"},
		"half-turn":     {"turn 1 1 ", "turn 561 281 ", "half-turn 561"},
		"round":         {"turn 1 1 ", "turn 1 2 ", "round 2"},
		"words":         {"turn 1 1 ", "turn 1 ", "7 words, want 8"},
		"no number":     {"turn 1 1 ", "turn one 1 ", `"one" is no number`},
		"last":          {"last -", "list -", "want the last placement"},
		"last place":    {"last -", "last 15 0 0", "15 0 0"},
		"board cell":    {"..........\n..........\nmoves", "..........\n.....x....\nmoves", "board row 24"},
		"board narrow":  {"..........\nmoves", ".........\nmoves", "board row 24: 9 cells"},
		"board short":   {"..........\nmoves", "moves", "25 lines between turn and moves"},
		"overfull":      {strings.Repeat("..........\n", 25), strings.Repeat("##########\n", 25), "full rows"},
		"no place":      {strings.Repeat("..........\n", 25), strings.Repeat("#########.\n", 25), "no placement"},
		"foreign block": {"turn 1 1 ", "turn 1 1 9", "block 9"},
	} {
		text := strings.Replace(good, c.old, c.with, 1)
		if name == "not packages" {
			at := strings.Index(good, "blocks ") + len("blocks ")
			text = good[:at] + "8" + good[at+1:]
		}
		require.NotEqual(t, good, text, name)
		_, err := NewCodec(io.Discard).ReadTurn(bufio.NewReader(strings.NewReader(text)), &tetrisduel.State{})
		require.ErrorIs(t, err, contest.ErrOutOfSync, name)
		require.ErrorContains(t, err, c.want, name)
	}
	in := bufio.NewReader(strings.NewReader("end 1 limit 3 2\n" + good))
	_, err := NewCodec(io.Discard).ReadTurn(in, &tetrisduel.State{})
	require.ErrorIs(t, err, io.EOF)
}

// A bot plays a whole dialogue of requests.
func TestBotAnswersRequests(t *testing.T) {
	s := &tetrisduel.State{}
	s.Reset(3)
	in := requestText()
	var out, notes bytes.Buffer
	bot := contest.Bot{
		Codec: NewCodec(&out), Agent: search.NewGreedy(tetrisduel.Game, NewHand()),
		State: tetrisduel.Game.New(2), View: tetrisduel.Game.New(2), Notes: &notes,
	}
	odd := strings.Replace(in, "last -", "last x", 1)
	require.NoError(t, bot.Play(t.Context(), strings.NewReader(in+odd+"end 1 overflow 0 0\n"), &out))
	require.Regexp(t, `^ready\n\d+ \d+ \d\nready\n\d+ \d+ \d\n$`, out.String())
	require.Contains(t, notes.String(), `"x"`)
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
		s := &tetrisduel.State{}
		s.Reset(1)
		if a, ok := Judge(s, line); ok {
			require.Contains(t, s.Legal(0, nil), a)
		}
	})
}
