package blockbattlebot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/env/blockbattle"
)

// A heard turn is a recorded request as our bot's end understood it.
type heard struct {
	turn  contest.Turn
	state blockbattle.State
	lines []string // the host's, of this turn
	reply string   // the recorded bot's; late if there was none
	late  bool
	notes []string // the recorded host's, after the reply
}

// hear reads a whole log with the bot's end.
func hear(t testing.TB, l protocolLog) (settings []string, turns []heard) {
	var notes strings.Builder
	c := NewCodec(blockbattle.ClassicDialect, &notes)
	in := bufio.NewReader(strings.NewReader(toBot(&l)))
	s := blockbattle.Game.New(2).(*blockbattle.State)
	for {
		turn, err := c.ReadTurn(in, s)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "%s, request %d", l.Game, len(turns)+1)
		turns = append(turns, heard{turn: turn, state: *s, late: true})
	}
	require.Empty(t, notes.String())
	require.Len(t, turns, strings.Count("\n"+toBot(&l), "\naction "))
	require.Equal(t, l.Dialect == "port", c.Dialect == blockbattle.PortDialect)
	at, lines := -1, []string(nil)
	for _, e := range l.Lines {
		switch {
		case e[0] == "host" && strings.HasPrefix(e[1], "settings "):
			settings = append(settings, e[1])
		case e[0] == "host":
			lines = append(lines, e[1])
			if strings.HasPrefix(e[1], "action ") {
				at++
				turns[at].lines, lines = lines, nil
			}
		case e[0] == "bot":
			turns[at].reply, turns[at].late = e[1], false
		case at >= 0:
			turns[at].notes = append(turns[at].notes, e[1])
		}
	}
	return settings, turns
}

func allLogs(t testing.TB) []protocolLog {
	all, err := readLogs()
	require.NoError(t, err)
	require.Len(t, all, 9)
	return all
}

// The bot's end understands every recorded line, and the referee's end says it again to
// the letter.
func TestCodecReadsAndWritesTheLogs(t *testing.T) {
	for _, l := range allLogs(t) {
		t.Run(l.Game, func(t *testing.T) {
			settings, turns := hear(t, l)
			d := blockbattle.ClassicDialect
			if l.Dialect == "port" {
				d = blockbattle.PortDialect
			}
			turns[0].lines = append(settings, turns[0].lines...)
			c := NewCodec(d, nil)
			for i, h := range turns {
				require.Equal(t, contest.Turn{Budget: h.turn.Budget, PerMove: 500 * time.Millisecond}, h.turn)
				require.Equal(t, h.lines, c.Request(&h.state, h.turn), "request %d", i+1)
				if i%15 == 0 {
					answersReadBack(t, &h.state)
				}
			}
		})
	}
}

// remarkOf is our wording of a recorded remark about an answer, "" for what is not one.
func remarkOf(note string) string {
	text, ok := strings.CutPrefix(note, `Engine warning: "`)
	if !ok {
		return ""
	}
	text = strings.TrimSuffix(text, `"`)
	if token, ok := strings.CutPrefix(text, "Cannot parse input: "); ok {
		return fmt.Sprintf("unknown token %q", token)
	}
	for start, ours := range map[string]string{
		"The piece is still loose": "the piece was left in the air: it falls",
		"Piece was frozen":         "the piece has come to rest: the rest of the tokens is not played",
		"Can't perform 'skip'":     "skip, with none in stock",
		"Maximum number of moves":  "more than 41 tokens: the rest is not read",
	} {
		if strings.HasPrefix(text, start) {
			return ours
		}
	}
	return "?" + note
}

// Our remarks about the recorded answers are those of the engine.
func TestRemarksAreThoseOfTheLogs(t *testing.T) {
	seen := map[string]int{}
	for _, l := range allLogs(t) {
		if l.Dialect == "port" {
			continue // its log has no remarks
		}
		t.Run(l.Game, func(t *testing.T) {
			_, turns := hear(t, l)
			for i, h := range turns {
				var want []string
				for _, n := range h.notes {
					if r := remarkOf(n); r != "" {
						want = append(want, r)
						seen[r]++
					}
				}
				if h.late {
					continue
				}
				h.state.Rules = blockbattle.Classic
				var got []string
				_, remarks := readAnswer(blockbattle.ClassicDialect, &h.state, 0, h.reply)
				for _, r := range remarks {
					if r != "an empty part ends the answer" { // the engine keeps silent
						got = append(got, r)
					}
				}
				require.Equal(t, want, got, "round %d: %s", i+1, h.reply)
			}
		})
	}
	require.Greater(t, len(seen), 6)
}

// answersReadBack checks that the referee's end reads whatever legal action the bot's end writes.
func answersReadBack(t *testing.T, s *blockbattle.State) {
	c := NewCodec(blockbattle.ClassicDialect, nil)
	for _, a := range s.Legal(0, nil) {
		line := c.Answer(s, 0, a)
		require.Equal(t, blockbattle.Text(a), blockbattle.Text(c.Judge(s, 0, line)), line)
		require.LessOrEqual(t, parts(line), blockbattle.MaxTokens)
	}
}

// toBot is everything that the host of a log wrote, as a bot reads it.
func toBot(l *protocolLog) string {
	var b strings.Builder
	for _, e := range l.Lines {
		if e[0] == "host" {
			b.WriteString(e[1] + "\n")
		}
	}
	return b.String()
}
