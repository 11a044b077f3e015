package cage

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// Of the time, at most one part in walkShare is spent on looking at the files of a program.
const (
	watchPeriod = 100 * time.Millisecond // between two looks at a program
	walkShare   = 50
)

// A Watch looks at what a program takes of the machine with all that it has started, where no limit of the system
// counts that: its memory, its threads, and the files that it may write.
type Watch struct {
	pid     int
	limits  Limits
	folders []string
	bytes   int64 // what was in the folders
	files   int
	next    time.Time // to look at the folders
}

// NewWatch returns the watch of a process with a limit of memory, 0 for none, and in a cage, nil for none, with a
// folder of its own. It is nil if there is nothing to watch.
func NewWatch(pid int, memory int64, c *Cage, own string) *Watch {
	w := &Watch{pid: pid}
	if c != nil {
		w.limits, w.folders = c.Limits, []string{own}
		if c.writable() {
			w.folders = append(w.folders, c.Own)
		}
		if len(w.folders) == 2 && within(own, c.Own) {
			w.folders = w.folders[1:]
		}
		w.bytes, w.files = size(w.limits.Files, w.folders...)
	}
	if w.limits.Memory = memory; memory == 0 && c == nil {
		return nil
	}
	return w
}

// writable reports whether the cage's own folder may be written: nothing in it is hidden.
func (c *Cage) writable() bool {
	return c.Own != "" && !slices.ContainsFunc(c.Hidden, func(h string) bool { return within(h, c.Own) })
}

// Scratch makes a folder for the temporary files of a program, in its own folder if it may write there.
func (c *Cage) Scratch() (string, error) {
	dir := ""
	if c.writable() {
		dir = c.Own
	}
	return os.MkdirTemp(dir, "tmp-")
}

// Pause is how long to wait before the next look.
func (*Watch) Pause() time.Duration { return watchPeriod }

// Look returns what the program takes too much of, "" for nothing.
func (w *Watch) Look() string {
	memory, threads := usage(w.pid)
	switch {
	case w.limits.Memory > 0 && memory > w.limits.Memory:
		return fmt.Sprintf("it uses %d MiB of memory, want at most %d", memory>>20, w.limits.Memory>>20)
	case w.limits.Threads > 0 && threads > w.limits.Threads:
		return fmt.Sprintf("it has %d processes and threads, want at most %d", threads, w.limits.Threads)
	case len(w.folders) == 0 || time.Now().Before(w.next):
		return ""
	}
	begun := time.Now()
	bytes, files := size(w.files+w.limits.Files, w.folders...)
	w.next = time.Now().Add(walkShare * time.Since(begun))
	switch {
	case bytes-w.bytes > w.limits.Disk:
		return fmt.Sprintf("it has written %d MiB, want at most %d", (bytes-w.bytes)>>20, w.limits.Disk>>20)
	case files-w.files > w.limits.Files:
		return fmt.Sprintf("it has made more than %d files", w.limits.Files)
	}
	return ""
}
