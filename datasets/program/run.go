package program

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"blockyard/datasets/program/disk"

	"github.com/alecthomas/kong"
)

// RunFile says how results were made, in their folder or as an extension beside one file, as in Python.
const RunFile = "run.json"

const maxEarlier = 100 // bounds Run.Earlier: the oldest processes are forgotten first

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

// Open writes a folder's run.json at the start, with earlier processes. Close completes it.
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
	return disk.WriteJSON(path, r)
}

// Close writes run.json of a folder, with the time that the process took.
func (r *Run) Close(folder string) error { return r.finish(filepath.Join(folder, RunFile)) }

// WriteBeside writes FILE.run.json beside a complete file of results, with the time that the process took until now.
func (r *Run) WriteBeside(file string) error { return r.finish(file + "." + RunFile) }

func (r *Run) finish(path string) error {
	r.Seconds = new(float64(time.Since(r.begin).Milliseconds()) / 1000)
	return disk.WriteJSON(path, r)
}

// ReadRun reads what a Run wrote beside its results. It returns an error that names the file.
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
		match := secretFlag.FindStringSubmatch(arg)
		switch {
		case match == nil:
			args[k] = secretUser.ReplaceAllString(arg, "://***@")
		case match[2] == "=":
			args[k] = match[1] + "=***"
		case k+1 < len(args):
			args[k+1] = "***"
		}
	}
	return args
}

// `make binaries` sets these when it links, with -X blockyard/datasets/program.version=0.1.0 and so on.
var version, commit, date string

// An Info is where a program comes from.
type Info struct {
	Version  string `json:"version"`          // such as "0.1.0"; "devel" if the program was not built as a release
	Commit   string `json:"commit,omitempty"` // 40 hexadecimal digits, then "+modified" if files differed; "" if unknown
	Date     string `json:"date,omitempty"`   // of the commit, as in 2026-11-22T19:04:05Z; "" if unknown
	Go       string `json:"go"`               // version of the compiler
	Platform string `json:"platform"`         // such as "linux/amd64"
}

// Read returns where this program comes from: its version, commit, date, compiler and platform.
func Read() Info {
	i := Info{cmp.Or(version, "devel"), commit, date, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if build, ok := debug.ReadBuildInfo(); ok && i.Commit == "" {
		i.record(build.Settings)
	}
	return i
}

// record fills in what the go command knew of the checkout.
func (i *Info) record(settings []debug.BuildSetting) {
	modified := ""
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.time":
			i.Date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = "+modified"
			}
		}
	}
	if i.Commit != "" {
		i.Commit += modified
	}
}

// Line returns the answer of a program to --version.
func (i Info) Line(program string) string {
	return fmt.Sprintf("%s %s (commit %s, date %s, %s, %s)",
		program, i.Version, cmp.Or(i.Commit, "unknown"), cmp.Or(i.Date, "unknown"), i.Go, i.Platform)
}

// Called returns the name of this program's file if that begins with "blockyard", as in releases, or the default.
func Called(byDefault string) string {
	if base := filepath.Base(os.Args[0]); strings.HasPrefix(base, "blockyard") {
		return strings.TrimSuffix(base, ".exe")
	}
	return byDefault
}

// A Flag is the flag --version of a program, to embed in the struct of its commands.
type Flag struct {
	Version kong.VersionFlag `help:"Print version, commit and date, and exit."`
}
