package series

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/datasets/record/gamelog"
	"blockyard/env/ansi"
)

// A logFile is a log for people: what programs write into it does nothing to the terminal on which it is shown.
type logFile struct {
	*ansi.Writer
	io.Closer
}

// createLog creates the log file of a game, and its folder. It returns nil if there is none.
func createLog(name func(*match.Played) string, g *match.Played) (*logFile, error) {
	if name == nil || name(g) == "" {
		return nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(name(g)), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(name(g))
	return &logFile{&ansi.Writer{To: f}, f}, err
}

// A gameLog is the file with all that was said in one game. It is safe for concurrent use, as standard errors come
// beside the game.
type gameLog struct {
	names  []string // of the seats
	errors io.Writer
	mu     sync.Mutex
	file   *logFile // nil keeps nothing
	out    *bufio.Writer
	over   bool
	late   map[int]int // lines of standard error after the end of the game, by seat
}

func newLog(file *logFile, errs io.Writer) *gameLog {
	return &gameLog{errors: errs, file: file, out: bufio.NewWriter(file), late: map[int]int{}}
}

// introduce says who plays in a seat.
func (l *gameLog) introduce(seat int, name string) {
	l.line(contest.Note, -1, l.names[seat]+" is "+name)
}

var marks = map[contest.Kind]string{contest.ToBot: gamelog.Input, contest.FromBot: gamelog.Answer,
	contest.Error: gamelog.Errors, contest.Remark: gamelog.Remark, contest.Time: gamelog.Time}

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

// end writes the log, which says how much of a bot's standard error came too late to be kept. It ends with the record
// of the game, if there is one.
func (l *gameLog) end(rec *record.Record) error {
	for seat := range l.names {
		if n := l.late[seat]; n > 0 {
			l.line(contest.Remark, seat, fmt.Sprintf("%d lines of standard error after the end of the game are not kept", n))
		}
	}
	if l.file == nil {
		return nil
	}
	if rec != nil {
		text, err := gamelog.Record(rec)
		if err != nil {
			return err
		}
		l.line(contest.Note, -1, text)
	}
	return l.out.Flush()
}
