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

// A Program says how to start a player.
type Program struct {
	Name   string    // as the user gave it
	Argv   []string  // without the two arguments of a turn; Argv[0] is absolute
	Dir    string    // working directory; "" is the host's
	Errors io.Writer // gets standard error, up to a limit in every turn; nil discards it
	// Foreign is called with every line of output that is not a command, from another
	// goroutine, but never after Turn has returned. It may be nil.
	Foreign func(line string)
}

// Find returns the program of a command line, which is either the name of an executable file,
// spaces included, or a file or a command of the search path followed by arguments. No shell
// is involved.
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

// Home makes the program run in its own folder.
func (p *Program) Home() { p.Dir = filepath.Dir(p.Argv[0]) }
