package contest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Command splits a command line into arguments. A line with characters that are special to a shell is run by one.
func Command(line string) []string {
	if strings.ContainsAny(line, special) {
		return shell(line)
	}
	return strings.Fields(line)
}

// Find returns an error if the program of a command, as Command returns it, or the script that it runs does not exist.
// Of a line of shell, only the words before the first that the shell may change are looked at.
func Find(argv []string) error {
	if len(argv) == 3 && argv[0] == "/bin/sh" {
		words := strings.Fields(argv[2])
		if k := slices.IndexFunc(words, func(word string) bool { return strings.ContainsAny(word, special) }); k >= 0 {
			words = words[:k]
		}
		if len(words) == 0 {
			return nil
		}
		if exec.Command(argv[0], "-c", "command -v "+words[0]).Run() != nil {
			return fmt.Errorf("program %s: neither a file nor a command of the shell", words[0])
		}
		return findScript(words)
	}
	if _, err := lookUp(argv[0], argv[0]); err != nil {
		return err
	}
	return findScript(argv)
}

// script is the name of a file that another program runs.
var script = regexp.MustCompile(`(?i)^[^-].*` +
	`\.([cm]?[jt]s|py[cz]?|rb|pl|php|lua|jar|r|jl|tcl|exs|clj|scm|rkt|groovy|dll|exe|(ba|z)?sh)$`)

// findScript returns an error if the first argument that may be the script of a program, such as python3, env or java,
// is no file.
func findScript(argv []string) error {
	for _, name := range argv[1:] {
		if !script.MatchString(name) {
			continue
		}
		if !isFile(name) {
			return fmt.Errorf("program %s: there is no such file for %s to run", name, argv[0])
		}
		return nil
	}
	return nil
}

// isFile reports whether there is something at a path that is no folder.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
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
	if argv = strings.Fields(line); isFile(line) {
		argv = []string{line}
	}
	if len(argv) == 0 {
		return nil, errors.New("no program named")
	}
	name := argv[0]
	if err = findScript(argv); err == nil && isFile(name) {
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
