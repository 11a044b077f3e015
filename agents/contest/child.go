package contest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

const (
	reapTime    = 10 * time.Second       // for a killed program to vanish
	watchPeriod = 100 * time.Millisecond // between two looks at what a program takes of the machine
	drainTime   = 250 * time.Millisecond // to read what is left, if other processes hold the pipe open
)

var errStuck = errors.New("the program was killed but has not ended")

// A Spec says which program to start, and how.
type Spec struct {
	Argv []string
	Dir  string // working directory; "" is that of this process, or the one with which its cage begins
	// Cage contains the program. There is no default: a program that the user trusts is in the cage Trusted.
	Cage Cage
	// Memory is how many bytes the program may use, with all that it starts; 0 is no limit. Past it, it is killed and
	// Excess called. Linux only; elsewhere there is no limit.
	Memory int64
	Excess func(why string) // from another goroutine, if the program is ended for what it takes; may be nil
	// Stdout and Stderr read the program's output to its end, each in a goroutine of its own.
	// A nil reader discards the output.
	Stdout, Stderr func(r io.Reader)
	Input          bool // standard input is a pipe, Child.In; without it, it is empty
	// Frames, if not nil, opens two more pipes: the program, which is in the cage Trusted, reads Child.In as file 3 and
	// writes file 4, which Frames reads. On Windows they are standard input and output.
	Frames func(r io.Reader)
}

// A Child is a supervised program in a process group of its own. Its outputs are always read, and Kill leaves no
// process, goroutine or file behind. Only StartChild starts programs that this project does not trust.
type Child struct {
	In *os.File // what the program reads; nil if it reads nothing

	cmd       *exec.Cmd
	outs      []*os.File // what it writes
	readers   sync.WaitGroup
	exited    chan struct{}
	state     *os.ProcessState // set when the program has been collected
	once      sync.Once
	err       error
	contained Contained
	peak      Taking // the most of each, as far as the watch has seen it

	mu   sync.Mutex
	seen []int // processes that the watch has seen, since they were asked for
}

// A Cage says what a program may reach. Package cage has the one for programs of strangers.
type Cage interface {
	// Enclose returns a command, not started yet, that runs the program of s in the cage. It does not look at the
	// program's files: what this process sees there need not be what the program will see.
	Enclose(s *Spec) (*exec.Cmd, Contained, error)
}

// A Contained is a program in its cage. The process is that of the cage's command, which has started and was not
// collected.
type Contained interface {
	// Excess returns what the program takes, and what of it is too much, "" for nothing.
	Excess(p *os.Process) (taken Taking, why string)
	// Before sees the command with its streams, just before it starts.
	Before(cmd *exec.Cmd) error
	Terminate(p *os.Process) // asks the program to end
	Kill(p *os.Process)      // ends the program, with all that it has started
	Leave()                  // removes what belonged to the program, which has ended or never started
	User() int               // who opens the pipes to the program by their paths, such as /dev/stdin; 0 for this process
}

// StartChild starts the program of s in its cage.
func StartChild(s Spec) (*Child, error) {
	switch {
	case len(s.Argv) == 0:
		return nil, errors.New("no command")
	case s.Cage == nil:
		return nil, fmt.Errorf("program %s: it has no cage", s.Argv[0])
	}
	cmd, contained, err := s.Cage.Enclose(&s)
	if err != nil {
		return nil, err
	}
	if s.Memory > 0 {
		cmd.Env = append(cmd.Environ(), runtimes(s.Memory)...)
	}
	c := &Child{cmd: cmd, contained: contained, exited: make(chan struct{})}
	confine(c.cmd)
	ends := slices.Clone(cmd.ExtraFiles) // the child's ends of the pipes
	var reads []func(r io.Reader)        // of c.outs
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		if user := contained.User(); err == nil && user != 0 {
			err = r.Chown(user, user) // both ends are one file
		}
		return r, w
	}
	in := func() *os.File {
		r, w := pipe()
		c.In, ends = w, append(ends, r)
		return r
	}
	out := func(read func(r io.Reader)) *os.File {
		r, w := pipe()
		c.outs, ends, reads = append(c.outs, r), append(ends, w), append(reads, read)
		return w
	}
	if s.Input {
		c.cmd.Stdin = in()
	}
	if s.Stdout != nil {
		c.cmd.Stdout = out(s.Stdout)
	}
	if s.Stderr != nil {
		c.cmd.Stderr = out(s.Stderr)
	}
	if s.Frames != nil {
		giveFrames(c.cmd, in(), out(s.Frames))
	}
	if err == nil {
		err = c.contained.Before(c.cmd)
	}
	if err == nil {
		err = startLocked(c.cmd, func(state *os.ProcessState) {
			c.state = state
			close(c.exited)
		})
	}
	for _, f := range ends {
		f.Close()
	}
	if err != nil {
		c.closeFiles()
		c.contained.Leave()
		return nil, err
	}
	for i, read := range reads {
		c.readers.Go(func() { read(c.outs[i]) })
	}
	c.readers.Go(func() { c.watch(s.Excess) })
	return c, nil
}

// watch kills the program when it takes more than it may. It returns when the program has ended.
func (c *Child) watch(excess func(why string)) {
	for !c.Exit(watchPeriod) {
		taken, why := c.contained.Excess(c.cmd.Process)
		c.peak.Memory, c.peak.Threads = max(c.peak.Memory, taken.Memory), max(c.peak.Threads, taken.Threads)
		c.peak.CPU = max(c.peak.CPU, taken.CPU)
		c.mu.Lock()
		c.seen = append(c.seen, taken.Processes...)
		c.mu.Unlock()
		if why == "" {
			continue
		}
		if excess != nil {
			excess(why)
		}
		c.contained.Kill(c.cmd.Process)
		return
	}
}

// sighted returns the processes that the watch has seen since the last call.
func (c *Child) sighted() (seen []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, c.seen = c.seen, nil
	return seen
}

// read returns what the program has used so far.
func (c *Child) read() reading { return readUsage(c.cmd.Process.Pid) }

func (*Child) givesWay(thread int) bool { return givesWay(thread) }
func (*Child) ready(thread int) bool    { return ready(thread) }

// Exited returns a channel that is closed when the program has ended. Processes that it started may still run.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Exit waits at most d for the program to end by itself and reports whether it did.
func (c *Child) Exit(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.exited:
		return true
	case <-t.C:
		return false
	}
}

// Terminate asks the program to end.
func (c *Child) Terminate() { c.contained.Terminate(c.cmd.Process) }

// Kill ends the program and its group, waits for the readers of its output and closes all pipes. It returns nil after
// exit status 0, or else how the program ended (*exec.ExitError). It is safe to call again and concurrently.
func (c *Child) Kill() error {
	c.once.Do(c.kill)
	return c.err
}

func (c *Child) kill() {
	if c.In != nil {
		c.In.Close()
	}
	c.contained.Kill(c.cmd.Process)
	c.err = errStuck
	if c.Exit(reapTime) {
		c.err = nil
		if c.state == nil { // until now it kept its process ID
			c.state, c.err = c.cmd.Process.Wait()
		}
		if c.err == nil && !c.state.Success() {
			c.err = &exec.ExitError{ProcessState: c.state}
		}
	}
	c.contained.Leave()
	// The group has ended, and its ends of the pipes are closed. Only a process that has left
	// the group can still hold one open; it is not waited for.
	until := time.Now().Add(drainTime)
	for _, f := range c.outs {
		_ = f.SetReadDeadline(until)
	}
	c.readers.Wait()
	c.closeFiles()
}

// CPU is the processor time of the program and the children it has waited for, known after Kill; 0 before.
func (c *Child) CPU() time.Duration {
	if c.state == nil {
		return 0
	}
	return c.state.UserTime() + c.state.SystemTime()
}

// Peak is the most that the program has taken, known after Kill, as far as that was seen: it is looked at every tenth
// of a second, and the largest of its processes has said at its end how much memory it had.
func (c *Child) Peak() Taking {
	if c.state != nil {
		c.peak.Memory = max(c.peak.Memory, mostResident(c.state))
	}
	return c.peak
}

func (c *Child) closeFiles() {
	for _, f := range append(c.outs, c.In) {
		f.Close()
	}
}

// PassOn returns a function for Spec.Stdout or Stderr that copies at most so many bytes to w and discards the rest.
func PassOn(w io.Writer, most int64) func(r io.Reader) {
	return func(r io.Reader) {
		_, _ = io.CopyN(w, r, most)
		_, _ = io.Copy(io.Discard, r)
	}
}
