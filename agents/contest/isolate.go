package contest

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Trusted is the cage of programs that may do all that this process may: this project's own, and those that the user
// names. All that such a program starts ends with it, on Linux also in groups and sessions of its own; see
// isolate_linux.go. The exit status of a program that a signal has ended is 128 and the number of the signal there,
// except with Frames.
var Trusted Cage = trusted{}

type trusted struct{}

func (trusted) Enclose(s *Spec) (*exec.Cmd, Contained, error) {
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Dir = s.Dir
	g := &Group{Memory: s.Memory}
	if cmd.Err == nil { // otherwise the start says what is wrong
		g.mark = isolate(cmd, s.Frames != nil)
	}
	return cmd, g, nil
}

// A Group is a program with its process group and all that these have started.
type Group struct {
	Memory  int64 // bytes that it may use; 0 is no limit
	Threads int   // of all its processes together; 0 is no limit

	mark string // in the environment of its processes, by which they are found; "" if they need not be
}

var _ Contained = (*Group)(nil)

// Excess compares what all processes take with the limits.
func (g *Group) Excess(p *os.Process) (taken Taking, why string) {
	if g.Memory == 0 && g.Threads == 0 {
		return taken, ""
	}
	taken = Measure(p.Pid)
	return taken, taken.Exceeds(g.Memory, g.Threads, 0)
}

// A Taking is what a program takes of the machine, with all that it has started.
type Taking struct {
	Memory    int64 // bytes; see Measure
	Threads   int   // of all processes together
	CPU       time.Duration
	Processes []int    // their IDs
	Open      int      // open files of all processes together
	Mappings  int      // of memory, by all processes together; those beyond what is too much are not counted
	Deleted   int64    // bytes of open files that have been deleted
	Hidden    bool     // a process does not let itself be measured, or has what cannot be
	Unseen    []string // files that have been deleted and are mapped, but not open, so that their size is not known
}

// mostMappings is how many mappings of memory processes have at most together, since all of them are looked at. A
// large process has a thousand.
const mostMappings = 1 << 18

// Exceeds says which limit, of those that are not 0, has been exceeded, "" for none.
func (t *Taking) Exceeds(memory int64, threads, open int) string {
	switch {
	case memory > 0 && t.Memory > memory:
		return fmt.Sprintf("it uses %d MiB of memory, want at most %d", t.Memory>>20, memory>>20)
	case threads > 0 && t.Threads > threads:
		return fmt.Sprintf("it has %d processes and threads, want at most %d", t.Threads, threads)
	case t.Mappings > mostMappings:
		return fmt.Sprintf("it has more than %d mappings of memory", mostMappings)
	case open > 0 && t.Open > open:
		return fmt.Sprintf("it has %d open files, want at most %d", t.Open, open)
	}
	return ""
}

// Before does nothing: the streams of the command are those of the program.
func (g *Group) Before(*exec.Cmd) error { return nil }

// Terminate asks the group to end.
func (g *Group) Terminate(p *os.Process) { signalGroup(p, false) }

// Kill ends the group.
func (g *Group) Kill(p *os.Process) { signalGroup(p, true) }

// User says that the group is of the user of this process.
func (g *Group) User() int { return 0 }

// Leave ends what has left the group.
func (g *Group) Leave() { sweep(g.mark) }
