package contest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Command splits a command line into arguments. A line with characters that are special to a shell is run by one.
func Command(line string) []string {
	if strings.ContainsAny(line, special) {
		return shell(line)
	}
	return strings.Fields(line)
}

// Find returns an error if the program of a command, as Command returns it, does not exist. Of a line of shell, only
// the first word is looked up, and only if it is a plain word.
func Find(argv []string) error {
	if len(argv) == 3 && argv[0] == "/bin/sh" {
		word, _, _ := strings.Cut(strings.TrimSpace(argv[2]), " ")
		if !strings.ContainsAny(word, special) && exec.Command(argv[0], "-c", "command -v "+word).Run() != nil {
			return fmt.Errorf("program %s: neither a file nor a command of the shell", word)
		}
		return nil
	}
	_, err := lookUp(argv[0], argv[0])
	return err
}

// lookUp returns the file of a program, which errors call by its name: a file, or a command of the search path.
func lookUp(name, path string) (string, error) {
	file, err := exec.LookPath(path)
	if err == nil {
		return file, nil
	}
	err = errors.Unwrap(err)
	if p := new(fs.PathError); errors.As(err, &p) {
		err = p.Err
	}
	return "", fmt.Errorf("program %s: %w", name, err)
}

// File returns the command of a line without a shell: the line is the name of a program's file, blanks included, or
// such a file or a command of the search path with arguments. The file's path becomes absolute.
func File(line string) (argv []string, err error) {
	isFile := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && !info.IsDir()
	}
	if argv = strings.Fields(line); isFile(line) {
		argv = []string{line}
	}
	if len(argv) == 0 {
		return nil, errors.New("no program named")
	}
	name := argv[0]
	if isFile(name) {
		argv[0], err = filepath.Abs(name)
	}
	if err == nil {
		argv[0], err = lookUp(name, argv[0])
	}
	if err == nil {
		argv[0], err = filepath.Abs(argv[0])
	}
	return argv, err
}

// special are the characters that make a command line one for a shell.
const special = "\"'`$|&;<>()*?[]#~=%{}\\\n"
