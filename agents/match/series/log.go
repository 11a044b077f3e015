package series

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"blockyard/agents/contest"
)

// A gameLog is the file with all that was said in one game.
type gameLog struct {
	names  []string // of the seats
	errors io.Writer
	mu     sync.Mutex
	file   *os.File // nil keeps nothing
	out    *bufio.Writer
	over   bool
	late   map[int]int // lines of standard error after the end of the game, by seat
}

func newLog(names []string, errors io.Writer, f *os.File) *gameLog {
	return &gameLog{names: names, errors: errors, file: f, out: bufio.NewWriter(f), late: map[int]int{}}
}

var marks = map[contest.Kind]string{contest.ToBot: "<", contest.FromBot: ">", contest.Error: "!", contest.Remark: "*",
	contest.Time: "@"}

// line writes one line. It may be called from several goroutines.
func (l *gameLog) line(k contest.Kind, seat int, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k == contest.Error && l.over {
		l.late[seat]++
		return
	}
	if k == contest.Error && l.errors != nil {
		fmt.Fprintf(l.errors, "%s: %s\n", l.names[seat], text)
	}
	switch {
	case k == contest.Over:
		l.over = true
	case l.file == nil:
	case k == contest.Note:
		fmt.Fprintln(l.out, text)
	default:
		fmt.Fprintf(l.out, "%s %s %s\n", l.names[seat], marks[k], text)
	}
}

// close ends the log, which says how much of a bot's standard error came too late to be kept.
func (l *gameLog) close() error {
	for seat := range l.names {
		if n := l.late[seat]; n > 0 {
			l.line(contest.Remark, seat, fmt.Sprintf("%d lines of standard error after the end of the game are not kept", n))
		}
	}
	if l.file == nil {
		return nil
	}
	return errors.Join(l.out.Flush(), l.file.Close())
}
