package contest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	reapTime    = 10 * time.Second       // for a killed program to vanish
	watchPeriod = 100 * time.Millisecond // between two looks at what a program takes of the machine
	drainTime   = 250 * time.Millisecond // to read what is left, if other processes hold the pipe open
)

var errStuck = errors.New("the program was killed but has not ended")

type Spec struct {
	Argv []string
	Dir  string // working directory; "" is that of this process
	// Memory is how many bytes the program may use, with all that it starts; 0 is no limit. Past it,
	// it is killed and Excess called. Linux only; elsewhere there is no limit.
	Memory int64
	Excess func(why string) // from another goroutine, if the program is ended for what it takes; may be nil
	// Isolate keeps all processes together that the program starts, so that none outlives it, also if they move to
	// other groups and sessions; see isolate_linux.go. The exit status of a program that a signal has ended is then
	// 128 and the number of the signal, except with Frames.
	Isolate bool
	// Cage contains the program; nil is none. It does not go together with Frames.
	Cage Cage
	// Stdout and Stderr read the program's output to its end, each in a goroutine of its own.
	// A nil reader discards the output.
	Stdout, Stderr func(r io.Reader)
	// Input opens a pipe to standard input, Child.In, which is empty otherwise. Frames exclude it.
	Input bool
	// Frames, if not nil, opens two more pipes: the program reads Child.In as file 3 and
	// writes file 4, which Frames reads. On Windows they are standard input and output.
	Frames func(r io.Reader)
}

// A Child is a supervised program in a process group of its own. Its outputs are always read, and Kill leaves no
// process, goroutine or file behind. Only here does this project start programs that it does not trust.
type Child struct {
	In *os.File // what the program reads; nil if it reads nothing

	cmd     *exec.Cmd
	mark    string     // in the environment of what it starts; see contain
	outs    []*os.File // what it writes
	readers sync.WaitGroup
	exited  chan struct{}
	state   *os.ProcessState // set when the program has been collected
	once    sync.Once
	err     error
	guest   Guest // nil if there is no cage
}

// A Cage keeps a program from all but what it needs. Package cage has one; programs that are bundled do without.
type Cage interface {
	// Enclose makes cmd, which has not started, start contained. Before is a command that runs the program if it is in a
	// PID namespace, which ends with that command's process; alone reports whether it is. Memory is as in Spec.
	Enclose(cmd *exec.Cmd, before []string, memory int64) (g Guest, alone bool, err error)
}

// A Guest is a program in its cage.
type Guest interface {
	// Excess returns what the program takes too much of, "" for nothing, when all its processes have that many threads.
	Excess(threads int) string
	Leave() // removes what belonged to the program, which has ended
}

func StartChild(s Spec) (*Child, error) {
	if len(s.Argv) == 0 {
		return nil, errors.New("no command")
	}
	c := &Child{cmd: exec.Command(s.Argv[0], s.Argv[1:]...), exited: make(chan struct{})}
	c.cmd.Dir = s.Dir
	confine(c.cmd)
	mark, guest, err := contain(c.cmd, &s)
	c.mark, c.guest = mark, guest
	var ends []*os.File           // the child's ends of the pipes
	var reads []func(r io.Reader) // of c.outs
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
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
		if c.guest != nil {
			c.guest.Leave()
		}
		return nil, err
	}
	for i, read := range reads {
		c.readers.Go(func() { read(c.outs[i]) })
	}
	if s.Memory > 0 || c.guest != nil {
		c.readers.Go(func() { c.watch(s.Memory, s.Excess) })
	}
	return c, nil
}

// watch kills the program when it takes more than it may. It returns when the program has ended.
func (c *Child) watch(most int64, excess func(why string)) {
	for !c.Exit(watchPeriod) {
		memory, threads := usage(c.cmd.Process.Pid)
		why := ""
		if most > 0 && memory > most {
			why = fmt.Sprintf("it uses %d MiB of memory, want at most %d", memory>>20, most>>20)
		} else if c.guest != nil {
			why = c.guest.Excess(threads)
		}
		if why == "" {
			continue
		}
		if excess != nil {
			excess(why)
		}
		signalGroup(c.cmd.Process, true)
		return
	}
}

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

func (c *Child) Terminate() { signalGroup(c.cmd.Process, false) }

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
	signalGroup(c.cmd.Process, true)
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
	sweep(c.mark)
	if c.guest != nil {
		c.guest.Leave()
	}
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
