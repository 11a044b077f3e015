package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"blockyard/datasets/program/disk"
)

// RunFile is the name of the file that says how results were made, so that they can be made again: in a folder of
// results, and as an extension beside a single file. The Python package writes the same form.
const RunFile = "run.json"

// maxEarlier bounds Run.Earlier: the oldest processes are forgotten first.
const maxEarlier = 100

// A Run is one process that wrote results.
type Run struct {
	Program string    `json:"program"`           // such as "train"
	Command []string  `json:"command"`           // arguments of the process, with *** for secrets
	Release Info      `json:"release"`           // of the program
	Seed    string    `json:"seed,omitempty"`    // whole number that all randomness follows from; "" for none
	Started time.Time `json:"started"`           // UTC, whole seconds
	Seconds *float64  `json:"seconds"`           // wall-clock time until it ended; nil before, and if it was killed
	Earlier []Run     `json:"earlier,omitempty"` // processes that wrote to this folder before, oldest first

	begin time.Time // with the monotonic clock
}

// Begin describes this process. name is the one it has outside releases, such as "train"; seed may be empty.
func Begin(name, seed string) *Run {
	now := time.Now()
	return &Run{
		Program: Called(name), Command: hideSecrets(os.Args[1:]), Release: Read(), Seed: seed,
		Started: now.UTC().Truncate(time.Second), begin: now,
	}
}

// Open writes run.json of a folder of results while they are still being made, and keeps what it said of earlier
// processes. Close completes the file.
func (r *Run) Open(folder string) error {
	path := filepath.Join(folder, RunFile)
	last, err := ReadRun(path)
	if err == nil {
		earlier := last.Earlier
		last.Earlier = nil
		earlier = append(earlier, *last)
		r.Earlier = earlier[max(0, len(earlier)-maxEarlier):]
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return r.write(path)
}

// Close writes run.json of a folder, with the time that the process took.
func (r *Run) Close(folder string) error { return r.finish(filepath.Join(folder, RunFile)) }

// WriteBeside writes FILE.run.json beside a complete file of results, with the time that the process took until now.
func (r *Run) WriteBeside(file string) error { return r.finish(file + "." + RunFile) }

func (r *Run) finish(path string) error {
	seconds := float64(time.Since(r.begin).Milliseconds()) / 1000
	r.Seconds = &seconds
	return r.write(path)
}

// ReadRun reads what Close and WriteBeside write.
func ReadRun(path string) (*Run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Run
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s, which says how results were made, cannot be read: move it away (%w)", path, err)
	}
	return &r, nil
}

func (r *Run) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteText(path, 0o644, string(text)+"\n")
}

var (
	// A flag with a secret as its value. Flags ending in -file and the like name a file instead.
	secretFlag = regexp.MustCompile(`^(--?[\w-]*(?:token|password|secret|key))(=|$)`)
	// The user and password of an address.
	secretUser = regexp.MustCompile(`://[^/@\s]+@`)
)

// hideSecrets returns a copy of the arguments of a process with *** in place of secrets.
func hideSecrets(args []string) []string {
	args = slices.Clone(args)
	for k, arg := range args {
		if match := secretFlag.FindStringSubmatch(arg); match != nil {
			switch {
			case match[2] == "=":
				args[k] = match[1] + "=***"
			case k+1 < len(args):
				args[k+1] = "***"
			}
			continue
		}
		args[k] = secretUser.ReplaceAllString(arg, "://***@")
	}
	return args
}
