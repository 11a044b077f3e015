package program

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

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

// Read returns where this program comes from.
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

// Called returns the name of this program in help and errors: that of its file if it begins with "blockyard", as in
// releases and in the Python package, otherwise the default.
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
