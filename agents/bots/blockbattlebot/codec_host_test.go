package blockbattlebot

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// A scripted bot answers as recorded, and says what it was told.
type scripted struct {
	replies []reply
	told    []string
}

type reply struct {
	line    string
	late    bool
	elapsed time.Duration
}

var errScriptEnds = errors.New("the script ends")

func (s *scripted) say(lines []string, limit time.Duration) (string, time.Duration, error) {
	s.told = append(s.told, lines...)
	if len(s.replies) == 0 {
		return "", 0, errScriptEnds
	}
	r := s.replies[0]
	s.replies = s.replies[1:]
	if r.late {
		return "", limit, contest.ErrLate
	}
	return r.line, r.elapsed, nil
}

// recorded turns a log into a scripted bot. How long its answers took follows from the
// time banks the host showed.
func recorded(turns []heard, l contest.Limits) *scripted {
	var s scripted
	for i, h := range turns {
		r := reply{line: h.reply, late: h.late}
		if i+1 < len(turns) {
			if next := turns[i+1].turn.Budget; next < l.Bank {
				r.elapsed = h.turn.Budget + l.PerMove - next
			}
		}
		s.replies = append(s.replies, r)
	}
	return &s
}

// guess finds what the opponent did in a round and what was drawn, from the position
// before, our landing, and the position after: a literal search over all its moves.
func guess(t *testing.T, before, after *blockbattle.State, ours blockbattle.Landing) (env.Action, []uint16) {
	t.Helper()
	for _, a := range before.Legal(1, []env.Action{env.None}) {
		dry := *before
		var rep blockbattle.Report
		theirs := env.Moves{blockbattle.ActionOf(ours), a, env.None, env.None}
		lands := landings(before, theirs)
		dry.Play(&lands, &rep)
		draws := append(holes(&after.Sides[1], len(rep.Sides[0].Holes)), holes(&after.Sides[0], len(rep.Sides[1].Holes))...)
		draws = append(draws, uint16(after.Next))
		real := *before
		real.Force(draws)
		real.Step(theirs)
		real.Rand, real.Rules = after.Rand, after.Rules
		if real == *after {
			return a, draws
		}
	}
	t.Fatalf("round %d: no move of the opponent leads to the next position", before.Round)
	return 0, nil
}

// landings says where a joint move puts the pieces, by way of the answers that play it.
func landings(s *blockbattle.State, m env.Moves) (lands [2]blockbattle.Landing) {
	for seat := range lands {
		tokens, _ := s.Tokens(seat, m[seat], nil)
		lands[seat], _ = blockbattle.Execute(&s.Sides[seat], int(s.Piece), tokens, s.Rules)
	}
	return lands
}

// holes reads the draws behind the lowest k rows of garbage off a board, lowest first.
func holes(side *blockbattle.Side, k int) []uint16 {
	var draws []uint16
	for i := 1; i <= k; i++ {
		y := blockbattle.Height - int(side.Solid) - i
		if y < 0 {
			break
		}
		open := uint16(0)
		for x := range blockbattle.Width {
			if !side.Cells.At(x, y) {
				open |= 1 << x
			}
		}
		first := bits.TrailingZeros16(open)
		draws = append(draws, uint16(first))
		if rest := open & (open - 1); rest != 0 {
			draws = append(draws, uint16(bits.TrailingZeros16(rest)-first-1))
		}
	}
	return draws
}

// Hosting the recorded bot against an opponent that does what the boards show, our host
// says what the engine said, to the letter: every board and counter of the whole game, and
// every time bank.
func TestHostSaysWhatTheClassicEngineSaid(t *testing.T) {
	limits := contest.Limits{Bank: 10 * time.Second, PerMove: 500 * time.Millisecond, Timeouts: 3}
	for _, l := range allLogs(t) {
		if l.Dialect != "classic" {
			continue
		}
		t.Run(l.Game, func(t *testing.T) {
			settings, turns := hear(t, l)
			want := settings
			for i := range turns {
				turns[i].state.Rules = blockbattle.Classic
				want = append(want, turns[i].lines...)
			}
			opponent, draws := &scripted{}, [][]uint16{}
			for i := 0; i+1 < len(turns); i++ {
				s := &turns[i].state
				ours, _ := readAnswer(blockbattle.ClassicDialect, s, 0, "")
				if !turns[i].late {
					ours, _ = readAnswer(blockbattle.ClassicDialect, s, 0, turns[i].reply)
				}
				a, d := guess(t, s, &turns[i+1].state, ours)
				tokens, ok := s.Tokens(1, a, nil)
				require.True(t, ok)
				opponent.replies = append(opponent.replies, reply{line: blockbattle.Write(tokens)})
				draws = append(draws, d)
			}
			state := turns[0].state
			ref := &Referee{Dialect: blockbattle.ClassicDialect, State: &state, Limits: limits}
			ref.Watch = func(env.Seats, env.Moves) {
				if i := int(state.Round) - 1; i < len(draws) {
					state.Force(draws[i])
				}
			}
			bot := recorded(turns, limits)
			var remarks []string
			host := contest.Host{Referee: ref, Limits: limits,
				Start: toybot.Seated(toybot.Bot(bot.say), toybot.Bot(opponent.say)),
				Log: func(k contest.Kind, seat int, text string) {
					if k == contest.Remark && seat == 0 {
						remarks = append(remarks, text)
					}
				}}
			tallies, err := host.Play(t.Context())
			if err != nil {
				require.ErrorIs(t, err, errScriptEnds)
			}
			require.Equal(t, want, bot.told)
			if l.Game == "c059" {
				require.Equal(t, 3, tallies[0].Timeouts)
				require.True(t, tallies[0].Gone)
				require.Contains(t, remarks, "no answer within 607 ms: time-out 2")
			}
		})
	}
}

// portGame is the record of the game behind a log.
type portGame struct {
	Rounds []struct {
		Piece, Next string
		P           []portSide
	}
	Winner string
}

// A portSide is what the record says of one player in one round.
type portSide struct {
	Start                string
	Pts0, Combo0, Skips0 int
	Out                  string
	Holes                [][]uint16
}

// Hosting both bots of a recorded game of the port with its draws, our host says what the
// port said to the first, but for the port's slip of telling a bot its own values under
// the opponent's name; those must be the opponent's true ones.
func TestHostSaysWhatThePortSaid(t *testing.T) {
	g := readPortGame(t)
	var log []string
	for _, l := range allLogs(t) {
		if l.Game == "r008" {
			log = strings.Split(strings.TrimSuffix(toBot(&l), "\n"), "\n")
		}
	}
	state := blockbattle.PortGame.New(2).(*blockbattle.State)
	state.Force([]uint16{piece(g.Rounds[0].Piece), piece(g.Rounds[0].Next)})
	state.Reset(0)
	var bots [2]scripted
	for _, r := range g.Rounds {
		for seat := range bots {
			if len(r.P) == 2 && r.P[seat].Start != "" {
				bots[seat].replies = append(bots[seat].replies, reply{line: r.P[seat].Out})
			}
		}
	}
	limits := contest.Limits{Bank: 10 * time.Second, PerMove: 500 * time.Millisecond, Timeouts: 1}
	ref := &Referee{Dialect: blockbattle.PortDialect, State: state, Limits: limits, Watch: func(env.Seats, env.Moves) {
		r := g.Rounds[state.Round-1]
		var draws []uint16
		for seat := range r.P {
			for _, h := range r.P[seat].Holes {
				draws = append(draws, h[0])
				if len(h) == 2 {
					draws = append(draws, (h[1]+9-h[0])%10)
				}
			}
		}
		if int(state.Round) < len(g.Rounds) {
			draws = append(draws, piece(g.Rounds[state.Round].Next))
		}
		state.Force(draws)
	}}
	host := contest.Host{Referee: ref, Limits: ref.Limits}
	host.Start = toybot.Seated(toybot.Bot(bots[0].say), toybot.Bot(bots[1].say))
	envtest.Must(host.Play(t.Context()))
	require.True(t, state.Over)
	require.Equal(t, state.Sides[1-state.Winner].Lost.String(), ref.Outcome().Reason)
	require.Equal(t, g.Winner, []string{"player1", "player2"}[state.Winner])
	require.Len(t, bots[0].told, len(log))
	round := -1
	for i, want := range log {
		got := bots[0].told[i]
		if strings.HasPrefix(want, "update game round") {
			round++
		}
		if strings.HasPrefix(want, "update player1 ") {
			want = g.Rounds[round].P[1].trueValue(want)
		}
		require.Equal(t, want, got, "line %d, round %d", i+1, round+1)
	}
}

// trueValue is an update line with the side's own value in it.
func (p *portSide) trueValue(line string) string {
	words := strings.Fields(line)
	words[3] = map[string]string{
		"row_points": strconv.Itoa(p.Pts0), "combo": strconv.Itoa(p.Combo0), "skips": strconv.Itoa(p.Skips0),
		"field": strings.ReplaceAll(strings.Join(strings.Split(p.Start, ""), ","), ",;,", ";"),
	}[words[2]]
	return strings.Join(words, " ")
}

func piece(letter string) uint16 { return uint16(strings.Index(blockbattle.Letters, letter)) }

func readPortGame(t *testing.T) (g portGame) {
	f := envtest.Closing(t, envtest.Must(os.Open("logs/r008.json.gz")))
	z := envtest.Must(gzip.NewReader(f))
	require.NoError(t, json.NewDecoder(z).Decode(&g))
	return g
}
