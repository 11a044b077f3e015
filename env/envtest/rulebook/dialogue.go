package rulebook

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Line is a line of an example dialogue between a host and a bot.
type Line struct {
	Bot     bool // written by the bot
	Text    string
	Elapsed time.Duration // what the bot took for it
}

// rest stands for text that an example leaves out: the rest of a line, or whole lines.
const rest = "…"

// Dialogue reads a fenced block of lines that begin with "host: ", "bot: " or, with the time that the
// bot took, "bot (612 ms): ".
func Dialogue(t testing.TB, block []string) (lines []Line) {
	t.Helper()
	for _, text := range block {
		who, said, _ := strings.Cut(text, ":")
		l := Line{Bot: strings.HasPrefix(who, "bot"), Text: strings.TrimPrefix(said, " ")}
		if ms, timed := strings.CutPrefix(who, "bot ("); timed {
			n, err := strconv.Atoi(strings.TrimSuffix(ms, " ms)"))
			if err != nil {
				t.Fatalf("dialogue: %q: want a time such as (612 ms)", text)
			}
			l.Elapsed = time.Duration(n) * time.Millisecond
		} else if who != "bot" && who != "host" {
			t.Fatalf("dialogue: %q: want host: or bot: in front", text)
		}
		lines = append(lines, l)
	}
	return lines
}

// A Script is a bot, an agents/contest.Asker, that says its lines of a dialogue and compares what it is
// sent with the host's lines.
type Script struct {
	T     testing.TB
	Lines []Line // left to say and to read
	Late  error  // returned where the bot takes longer than it may
	End   func() // called at the end of the dialogue
}

// Ask compares the lines of a request with the host's next lines, and returns the bot's next line.
func (s *Script) Ask(_ context.Context, sent []string, limit time.Duration) (string, bool, time.Duration, error) {
	s.T.Helper()
	n := 0
	for n < len(s.Lines) && !s.Lines[n].Bot {
		n++
	}
	if d := difference(s.Lines[:n], sent); d != "" && len(s.Lines) > 0 {
		s.T.Fatalf("the dialogue of the rules differs from the host's: %s", d)
	}
	if s.Lines = s.Lines[n:]; len(s.Lines) == 0 {
		s.End()
		return "", false, 0, context.Canceled
	}
	answer := s.Lines[0]
	s.Lines = s.Lines[1:]
	if answer.Elapsed > limit {
		return "", false, limit, s.Late
	}
	return answer.Text, false, answer.Elapsed, nil
}

// Close does nothing: a Script holds no process.
func (s *Script) Close() error { return nil }

// difference returns where lines do not show what was sent, or "".
func difference(lines []Line, sent []string) string {
	for k, l := range lines {
		switch text, cut := strings.CutSuffix(l.Text, rest); {
		case cut && text == "": // any number of lines, then the next ones
			for from := range len(sent) + 1 {
				if difference(lines[k+1:], sent[from:]) == "" {
					return ""
				}
			}
			return "no line after " + rest + " agrees"
		case len(sent) == 0:
			return "the host does not send " + strconv.Quote(l.Text)
		case cut && !strings.HasPrefix(sent[0], text), !cut && sent[0] != text:
			return "the rules have " + strconv.Quote(l.Text) + ", the host sends " + strconv.Quote(sent[0])
		}
		sent = sent[1:]
	}
	if len(sent) > 0 {
		return "the host also sends " + strconv.Quote(sent[0])
	}
	return ""
}
