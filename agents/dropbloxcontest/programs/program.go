package programs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Program is how a player is started.
type Program struct {
	Name string   // as it was asked for
	Argv []string // without the two arguments of a turn; Argv[0] is absolute
	Dir  string   // working directory; "" is the host's
	// Errors gets standard error. A file is handed to the program itself; nil throws it
	// away.
	Errors io.Writer
	// Foreign gets every line of output that is no command, from another goroutine, though
	// never after Turn has returned. It may be nil.
	Foreign func(line string)
}

// Find finds the program that a command line names: an executable file with exactly this
// name, or else a file or a command of the search path and its first arguments, separated
// by spaces. No shell is asked.
func Find(line string) (*Program, error) {
	argv := strings.Fields(line)
	if info, err := os.Stat(line); err == nil && !info.IsDir() {
		argv = []string{line}
	}
	if len(argv) == 0 {
		return nil, errors.New("no program named")
	}
	path := argv[0]
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		if path, err = filepath.Abs(path); err != nil {
			return nil, fmt.Errorf("program %s: %w", argv[0], err)
		}
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("program %s: %w", argv[0], errors.Unwrap(err))
	}
	if found, err = filepath.Abs(found); err != nil {
		return nil, fmt.Errorf("program %s: %w", argv[0], err)
	}
	return &Program{Name: line, Argv: append([]string{found}, argv[1:]...)}, nil
}

// Home makes the program run in the folder it lies in.
func (p *Program) Home() { p.Dir = filepath.Dir(p.Argv[0]) }
