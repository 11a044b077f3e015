package series

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
}

// CreateLog creates the log file of a game in a folder, which it creates too. It returns nil
// if dir is empty.
func CreateLog(dir, name string) (*os.File, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(dir, name+".log"))
}

func (s *Series) openLog(i int, names []string) (*gameLog, error) {
	f, err := CreateLog(s.LogDir, fmt.Sprintf("game-%03d", i+1))
	return &gameLog{names: names, errors: s.Errors, file: f, out: bufio.NewWriter(f)}, err
}

var marks = map[contest.Kind]string{contest.ToBot: "<", contest.FromBot: ">", contest.Error: "!", contest.Remark: "*"}

// line writes one line. It may be called from several goroutines.
func (l *gameLog) line(k contest.Kind, seat int, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k == contest.Error && l.errors != nil {
		fmt.Fprintf(l.errors, "%s: %s\n", l.names[seat], text)
	}
	switch {
	case l.file == nil:
	case k == contest.Note:
		fmt.Fprintln(l.out, text)
	default:
		fmt.Fprintf(l.out, "%s %s %s\n", l.names[seat], marks[k], text)
	}
}

func (l *gameLog) close() error {
	if l.file == nil {
		return nil
	}
	return errors.Join(l.out.Flush(), l.file.Close())
}
