package cage

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"blockyard/agents/contest"

	"golang.org/x/sys/unix"
)

// verb is the first argument, in place of a name, of a process that contains itself. The second is its order.
const verb = "contained by blockyard"

// init runs before the program's own start, on its first thread, so that every program and test that starts bots can
// contain them.
func init() {
	if len(os.Args) == 2 && os.Args[0] == verb {
		fmt.Fprintln(os.Stderr, "cage:", enter(os.Args[1]))
		os.Exit(126)
	}
}

func enter(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	missing, err := o.build()
	if err != nil {
		return err
	}
	if o.Argv == nil {
		if err := json.NewEncoder(os.Stdout).Encode(missing); err != nil {
			return err
		}
		os.Exit(0)
	}
	return fmt.Errorf("%s: %w", o.Argv[0], syscall.Exec(o.Argv[0], o.Argv[1:], os.Environ()))
}

// all are the namespaces that a contained program gets where they are permitted.
const all = unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC

type ground struct {
	spaces  uintptr
	missing []string // walls
	err     error
}

// here finds out once which walls stand here, by putting them up.
var here = sync.OnceValue(func() (g ground) {
	g = ground{err: fmt.Errorf("no process can contain itself here")}
	for _, spaces := range []uintptr{all | unix.CLONE_NEWUSER, all, unix.CLONE_NEWPID | unix.CLONE_NEWUSER,
		unix.CLONE_NEWPID, 0} {
		cmd := exec.Command("/proc/self/exe")
		o := order{Spaces: spaces, Limits: Bot}
		if o.command(cmd) != nil {
			continue
		}
		var missing []string
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &missing)
		}
		if err == nil {
			return ground{spaces: spaces, missing: missing}
		}
	}
	return g
})

// Possible reports whether there are any walls here.
func Possible() bool { return here().err == nil }

// Missing lists the walls that are not to be had here.
func Missing() []string {
	if err := here().err; err != nil {
		return []string{err.Error()}
	}
	return here().missing
}

// wrap makes cmd start in the cage; see contest.Cage. Temporary is a folder of its own, which it may write.
func (c *Cage) wrap(cmd *exec.Cmd, before []string, temporary string) (alone bool, err error) {
	o := order{Spaces: here().spaces, Limits: c.Limits, Write: []string{temporary}}
	alone = o.Spaces&unix.CLONE_NEWPID != 0
	if o.Argv = append([]string{cmd.Path}, cmd.Args...); alone {
		o.Argv = slices.Concat([]string{before[0]}, before, []string{cmd.Path}, cmd.Args[1:])
	}
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	more := append(program(path), c.Read...)
	if c.writable() {
		o.Write = append(o.Write, c.Own)
	} else if c.Own != "" {
		more = append(more, c.Own)
	}
	o.Read = slices.Clone(readable())
	for _, path := range more {
		o.Read = append(o.Read, without(path, c.Hidden)...)
	}
	cmd.Env = environment(temporary, c.Env)
	return alone, o.command(cmd)
}

func (o *order) command(cmd *exec.Cmd) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	cmd.Path, cmd.Args = "/proc/self/exe", []string{verb, string(text)}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	contest.Namespaces(cmd.SysProcAttr, o.Spaces)
	if o.Spaces&unix.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
	return nil
}
