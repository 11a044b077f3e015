package cage

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"blockyard/agents/contest"
)

// walkShare is which part of the time, at most, is spent on looking at the files of a program.
const walkShare = 50

// A guest is a program in its cage. The host looks at what it takes of the machine, with all that it has started, where
// no limit of the system counts that.
type guest struct {
	limits  Limits
	scratch string   // a folder for its temporary files
	folders []string // which it may write
	bytes   int64    // what was in them
	files   int
	next    time.Time // to look at them
}

var _ contest.Cage = (*Cage)(nil)

// Enclose implements contest.Cage.
func (c *Cage) Enclose(cmd *exec.Cmd, before []string, memory int64) (contest.Guest, bool, error) {
	in := *c
	in.Memory = memory
	g := &guest{limits: in.Limits}
	var err error
	if g.scratch, err = in.makeScratch(); err != nil {
		return nil, false, err
	}
	g.folders = []string{g.scratch}
	if in.writable() {
		g.folders = []string{in.Own}
	}
	g.bytes, g.files = size(noLimit, g.folders...)
	alone, err := in.wrap(cmd, before, g.scratch)
	if err != nil {
		g.Leave()
	}
	return g, alone, err
}

// noLimit is more than any folder has of files.
const noLimit = 1 << 40

// writable reports whether the cage's own folder may be written: nothing in it is hidden.
func (c *Cage) writable() bool {
	return c.Own != "" && !slices.ContainsFunc(c.Hidden, func(h string) bool { return within(h, c.Own) })
}

// makeScratch makes a folder for the temporary files of a program, in its own folder if it may write there.
func (c *Cage) makeScratch() (string, error) {
	dir := ""
	if c.writable() {
		dir = c.Own
	}
	return os.MkdirTemp(dir, "tmp-")
}

// Leave removes the temporary files.
func (g *guest) Leave() { _ = Remove(g.scratch) }

// Excess returns what the program takes too much of, "" for nothing.
func (g *guest) Excess(threads int) string {
	if threads > g.limits.Threads {
		return fmt.Sprintf("it has %d processes and threads, want at most %d", threads, g.limits.Threads)
	}
	begun := time.Now()
	if begun.Before(g.next) {
		return ""
	}
	bytes, files := size(g.files+g.limits.Files, g.folders...)
	g.next = time.Now().Add(walkShare * time.Since(begun))
	switch {
	case bytes-g.bytes > g.limits.Disk:
		return fmt.Sprintf("it has written %d MiB, want at most %d", (bytes-g.bytes)>>20, g.limits.Disk>>20)
	case files-g.files > g.limits.Files:
		return fmt.Sprintf("it has made more than %d files", g.limits.Files)
	}
	return ""
}
