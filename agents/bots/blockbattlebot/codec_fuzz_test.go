package blockbattlebot

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

func bufioReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, contest.MaxLine) }

// FuzzBotEnd says anything to the bot. It answers every request once, with a line that
// has nothing odd about it, and ends with the dialogue.
func FuzzBotEnd(f *testing.F) {
	f.Add(dialogue())
	f.Add(dialogue() + dialogue("update player1 field", "update player1 field 3,3"))
	f.Add(dialogue("settings", ""))
	for _, l := range allLogs(f) {
		text := toBot(&l)
		if end := strings.Index(text, "game round 4"); end > 0 {
			text = text[:end]
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, said string) {
		asked := 0
		for _, line := range strings.Split(said, "\n") {
			words := strings.Fields(line)
			request := len(words) > 1 && words[0] == "action" && (words[1] == "move" || words[1] == "moves")
			if request && len(line) <= contest.MaxLine {
				asked++
			}
		}
		if asked > 50 {
			return // each answer takes its time, and tells nothing new
		}
		answers, _ := talk(t, said, search.NewFirst())
		require.Len(t, answers, asked)
		for _, a := range answers {
			_, odd := blockbattle.ParseAnswer(a, nil)
			require.Empty(t, odd, a)
			require.LessOrEqual(t, parts(a), blockbattle.MaxTokens)
		}
	})
}

// FuzzHostEnd gives the referee any answer in positions of recorded games. It always comes
// to a legal action, and remarks stay few and short.
func FuzzHostEnd(f *testing.F) {
	var states []blockbattle.State
	for _, l := range allLogs(f) {
		_, turns := hear(f, l)
		for i := 0; i < len(turns); i += 17 {
			states = append(states, turns[i].state)
		}
		for i := 0; i < len(turns); i += 29 {
			f.Add(turns[i].reply, uint8(i))
		}
	}
	f.Add(strings.Repeat("left,right,", 1500), uint8(3))
	f.Add(strings.Repeat("nonsense,", 2000)+"drop", uint8(4))
	f.Add("skip,skip", uint8(5))
	rules := []blockbattle.Rules{blockbattle.Document, blockbattle.Classic, blockbattle.Port}
	f.Fuzz(func(t *testing.T, line string, at uint8) {
		if len(line) > contest.MaxLine {
			return
		}
		s := states[int(at)%len(states)]
		s.Rules = rules[int(at)%3]
		before := s
		d := blockbattle.Dialect(int(at) / 2 % 2)
		a, remarks := Judge(d, &s, 0, line)
		require.Equal(t, before, s)
		require.Contains(t, s.Legal(0, nil), a, "%q", line)
		require.LessOrEqual(t, len(remarks), blockbattle.MaxTokens+4)
		for _, r := range remarks {
			require.LessOrEqual(t, len(r), 400)
		}
		// The host goes on with it as with the action.
		twin := s
		ref := Referee{Dialect: d, State: &s}
		ref.Answer(0, contest.Reply{Line: line})
		ref.Answer(1, contest.Reply{Fault: contest.Gone})
		ref.Close()
		twin.Step(env.Moves{a, env.None, env.None, env.None})
		require.Equal(t, twin, s)
		_ = ref.Request(0, time.Second)
	})
}

// FuzzField reads any board; what it takes, it writes back.
func FuzzField(f *testing.F) {
	for _, l := range allLogs(f)[:2] {
		_, turns := hear(f, l)
		for i := 0; i < len(turns); i += 31 {
			f.Add(turns[i].state.Sides[0].Field(int(turns[i].state.Piece)))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		var side, again blockbattle.Side
		if side.ReadField(text) != nil {
			require.Equal(t, again, side)
			return
		}
		written := side.Field(blockbattle.O)
		require.Len(t, written, blockbattle.FieldLen)
		require.NoError(t, again.ReadField(written))
		for x := range again.Cells { // the fresh piece hides what lies under it
			again.Cells[x] |= side.Cells[x] & 1
		}
		require.Equal(t, side, again)
	})
}
