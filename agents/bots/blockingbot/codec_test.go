package blockingbot

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// example is the game of rules §10 before its first turn.
func example() *blocking.State {
	letters := envtest.Must(blocking.ParseLetters("ABCDEFGIJKLNOQRSTU", 2))
	s := blocking.New(2, 0)
	s.Force(blocking.Deal(letters))
	s.Reset(0)
	return s
}

func text(lines ...[]string) string {
	var all []string
	for _, l := range lines {
		all = append(all, l...)
	}
	return strings.Join(all, "\n") + "\n"
}

// Both ends of the codec keep the same position through whole games: what the bot's end
// makes of a request is what the host's end wrote, and its answers come back.
func TestBothEndsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for seats := 2; seats <= 4; seats++ {
		hosts, bots := make([]*Codec, seats), make([]*Codec, seats)
		for i := range hosts {
			hosts[i], bots[i] = NewCodec(), NewCodec()
		}
		s := blocking.New(seats, 0)
		for s.Reset(uint64(seats)); s.Acting() != 0; {
			seat := s.Acting().First()
			said := text(hosts[seat].Request(s, contest.Turn{Seat: seat}))
			got := blocking.New(2, 0)
			require.Equal(t, seat, envtest.Must(bots[seat].ReadTurn(bufio.NewReader(strings.NewReader(said)), got)).Seat)
			want := *s
			want.Rand, want.TableID, want.PlayOut = got.Rand, got.TableID, got.PlayOut
			require.Equal(t, &want, got)
			legal := s.Legal(seat, nil)
			a := legal[rng.IntN(len(legal))]
			require.Equal(t, a, hosts[seat].Judge(s, seat, bots[seat].Answer(got, seat, sameIn(got, s, a))))
			s.Step(env.Alone(seat, a))
		}
	}
}

// sameIn is action a of s as an action of got, whose table may number forms otherwise.
func sameIn(got, s *blocking.State, a env.Action) env.Action {
	return got.Table().Action(envtest.Must(got.Table().ParseCode(s.Answer(int(s.Turn), a))))
}

func TestBotAnswersWhateverItHears(t *testing.T) {
	s := example()
	start, turn := Greeting(s, 0), Request(s, 0, nil)
	change := func(lines []string, i int, with string) []string {
		return slices.Replace(slices.Clone(lines), i, i+1, with)
	}
	legal := func(answer string) bool {
		_, ok := s.Judge(0, answer)
		return ok
	}
	toybot.Hears(t, Entry, blocking.Game, text(start, turn), legal, map[string]string{
		strings.ReplaceAll(text(start, turn), "\n", "  \n"): "",
		text(change(start, 5, "E 4 1 #.##"), turn):          "not connected",
		text(change(start, 5, "D 2 2 ###."), turn):          "defined twice",
		text(change(start, 5, "H 2 2 ####"), turn):          "letters E have no shape",
		text(change(start, 22, "ABCD"), turn):               "A to D and 14 others",
		text(change(start, 20, "7"), turn):                  "player 7 of 2",
		text(change(start, 19, "5"), turn):                  "5 players",
		text(change(start, 21, "12"), turn[1:]):             "size 12",
		text(start, change(turn, 4, "....")):                "row 4 has 4 cells",
		text(start, change(turn, 4, "....3........")):       `row 4, column 4: '3'`,
		text(start, change(turn, 13, "1\n1 0 0 Z001")):      "no move of another player",
		text(start, change(turn, 0, "11...........")):       "can place", // a start corner that is taken leaves no move
	})
}

func TestBotEndsWhereLinesMakeNoSense(t *testing.T) {
	s := example()
	start, turn := Greeting(s, 0), Request(s, 0, nil)
	for name, said := range map[string]string{
		"no count of shapes": "many\n",
		"a negative one":     "-1\n",
		"no count of moves":  text(start, turn[:13], []string{"none"}),
		"too many moves":     text(start, turn[:13], []string{"99999"}),
		"cut short":          text(start, turn[:13]),
	} {
		answers, _, err := toybot.Talk(t, Entry, blocking.Game, search.NewFirst(), said)
		require.Error(t, err, name)
		require.Empty(t, answers)
	}
	envtest.Must2(toybot.Talk(t, Entry, blocking.Game, search.NewFirst(), ""))
}

// A round that made no sense does not spoil the next one.
func TestBotRecovers(t *testing.T) {
	s := example()
	bad := Request(s, 0, nil)
	bad[3] = "?"
	said := text(Greeting(s, 0), bad, Request(s, 0, nil))
	answers, notes := envtest.Must2(toybot.Talk(t, Entry, blocking.Game, search.NewFirst(), said))
	require.Len(t, answers, 2)
	require.Contains(t, notes, "row 3")
	require.Equal(t, 1, strings.Count(notes, "\n"))
}

func TestTimes(t *testing.T) {
	s := example()
	c := NewCodec()
	r := bufio.NewReader(strings.NewReader(text(Greeting(s, 0), Request(s, 0, nil), Request(s, 0, nil))))
	for _, want := range []time.Duration{FirstTime, LaterTime} {
		turn := envtest.Must(c.ReadTurn(r, blocking.New(2, 0)))
		require.Equal(t, want, turn.Budget)
		require.Equal(t, want/2, contest.Allowance(turn))
	}
}

// A choice that is not in the list is answered with the first of the list, and reported.
func TestBotReportsWhatIsNotListed(t *testing.T) {
	s := example()
	var notes bytes.Buffer
	c := &Codec{Notes: &notes}
	legal, unlisted := s.Legal(0, nil), env.Action(0)
	for slices.Contains(legal, unlisted) {
		unlisted++
	}
	said := bufio.NewReader(strings.NewReader(text(Greeting(s, 0), Request(s, 0, nil))))
	envtest.Must(c.ReadTurn(said, blocking.New(2, 0)))
	require.NotEqual(t, "-", c.Answer(s, 0, legal[1]))
	require.Empty(t, notes.String())
	require.Equal(t, c.listed[0], c.Answer(s, 0, unlisted))
	require.Equal(t, fmt.Sprintf("action %d is not in the list of this request: the answer is its first placement, %s\n",
		unlisted, c.listed[0]), notes.String())
}

// Players that are not heard of are out, or stuck.
func TestBotSeesWhoIsOut(t *testing.T) {
	s := blocking.New(3, 0)
	s.Step(env.NoMoves)
	require.EqualValues(t, 1, s.Turn)
	c := NewCodec()
	got := blocking.New(2, 0)
	envtest.Must(c.ReadTurn(bufio.NewReader(strings.NewReader(text(Greeting(s, 1), Request(s, 1, nil)))), got))
	require.Equal(t, env.Seats(1), got.Out)
}

// FuzzBotEnd says anything to the bot: it never panics, and whatever it answers is in a list
// it was sent, or the answer without one.
func FuzzBotEnd(f *testing.F) {
	s := example()
	f.Add(text(Greeting(s, 0), Request(s, 0, nil)))
	f.Add(text(Greeting(s, 0), Request(s, 0, nil), Request(s, 0, nil)))
	f.Add(text(Greeting(blocking.New(4, 0), 3), Request(blocking.New(4, 0), 3, []string{"0 0 0 A001"})))
	f.Add("0\n2\n0\n13\nA\n")
	f.Fuzz(func(t *testing.T, said string) {
		if strings.Count(said, "\n") > 500 {
			return
		}
		answers, _, _ := toybot.Talk(t, Entry, blocking.Game, search.NewFirst(), said)
		for _, a := range answers {
			require.True(t, a == "-" || strings.Contains(said, a), a)
		}
	})
}

// FuzzHostEnd gives the host any answer: it comes to a legal action or to none.
func FuzzHostEnd(f *testing.F) {
	var states []blocking.State
	positions(3, 1, func(s *blocking.State) { states = append(states, *s) })
	f.Add("0 0 A001", uint8(0))
	f.Add("12 12 Q133\r", uint8(9))
	f.Add(strings.Repeat("0 ", 5000), uint8(3))
	f.Fuzz(func(t *testing.T, line string, at uint8) {
		s := states[int(at)%len(states)]
		before := s
		a := NewCodec().Judge(&s, int(s.Turn), line)
		require.Equal(t, before, s)
		if a != env.None {
			require.NoError(t, env.Apply(blocking.Game, &s, env.Alone(int(s.Turn), a)))
		}
	})
}
