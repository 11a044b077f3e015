package commands

import (
	"os"
	"runtime"
)

// reserve makes the garbage collector wait until the heap has grown by another 32 MiB at least, unless GOGC is set. A
// worker holds a few megabytes and makes as much garbage in a moment: without this, collections took a tenth of its CPU
// time. With more, the pages of a process that runs for seconds cost more than collections. What it returns lets go of
// that again.
//
// The collector runs when garbage amounts to what is in use. So this counts as in use, but takes no memory: none of its
// pages is ever written.
func reserve() (release func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	untouched := make([]byte, 32<<20)
	return func() { runtime.KeepAlive(untouched) }
}
