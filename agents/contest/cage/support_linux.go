package cage

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"blockyard/agents/contest"
)

// A support is what this machine has for contained programs.
type support struct {
	bwrap   string // the command that makes rooms; "" if it cannot here
	setpriv string // the command with which root becomes another user in a room
	missing []string
}

// here finds out once which walls stand here, by putting them up.
var here = sync.OnceValue(ask)

// ask puts up all walls, to see which there are.
func ask() support {
	var g support
	reason := ""
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		reason = "bubblewrap (bwrap) is not installed"
	} else if g.setpriv, err = exec.LookPath("setpriv"); err != nil && os.Geteuid() == 0 {
		reason = "setpriv (of util-linux) is not installed"
	} else if why := tryRoom(support{bwrap: bwrap, setpriv: g.setpriv}); why != "" {
		reason = "bubblewrap fails here: " + why
	} else {
		g.bwrap = bwrap
		return g
	}
	for _, name := range roomWalls {
		g.missing = append(g.missing, name+": "+reason)
		reason = "the same"
	}
	var more []string
	if out, err := (&sandbox{Limits: Bot}).command().Output(); err != nil || json.Unmarshal(out, &more) != nil {
		more = []string{"no process can contain itself here"}
	}
	g.missing = append(g.missing, more...)
	return g
}

// tryRoom starts a program in a room and returns why that fails, "" if it does not.
func tryRoom(g support) (why string) {
	if _, err := os.Stat("/proc/thread-self/children"); err != nil { // by which rooms are watched
		return "the kernel does not list the children of processes (CONFIG_PROC_CHILDREN)"
	}
	c := Cage{Limits: Bot}
	cmd, err := c.command(g, newUser(), []string{"true"}, ".", 0)
	if err != nil {
		return err.Error()
	}
	defer closeAll(cmd.ExtraFiles)
	if err := new(tenant).Before(cmd); err != nil {
		return err.Error()
	}
	_, err = cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		why, _, _ = strings.Cut(string(exit.Stderr), "\n")
		return why
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// Missing lists the walls that are not to be had here.
func Missing() []string { return here().missing }

// contained returns the command that starts a program in a room, or else behind the walls that there are.
func (c *Cage) contained(s *contest.Spec, dir string) (*exec.Cmd, contest.Contained, error) {
	user := newUser()
	if err := closeFiles(nil); err != nil {
		return nil, nil, err
	}
	if here().bwrap != "" {
		folders, err := lend(user, c.Write)
		if err != nil {
			return nil, nil, err
		}
		cmd, err := c.command(here(), user, s.Argv, dir, s.Memory)
		if err != nil {
			folders.takeBack()
		}
		return cmd, &tenant{c.Limits, s.Memory, folders, user}, err
	}
	w, err := c.workingFolder()
	if err != nil {
		return nil, nil, err
	}
	folders, err := lend(user, append([]string{w.root}, c.Write...))
	if err != nil {
		w.remove()
		return nil, nil, err
	}
	o := sandbox{Argv: s.Argv, Write: append([]string{w.root}, c.Write...), User: user, Memory: s.Memory, Limits: c.Limits}
	for _, path := range slices.Concat(readable(), []string{"/proc"}, c.Read) {
		o.Read = append(o.Read, without(path, c.Hidden)...)
	}
	if o.Dir = dir; !filepath.IsAbs(dir) {
		o.Dir = filepath.Join(w.files, dir)
	}
	cmd := o.command()
	cmd.Env = environment(w.temporary, c.Env)
	g := &inmate{Group: contest.Group{Memory: s.Memory, Threads: c.Threads}, limits: c.Limits, at: w,
		lent: folders, user: user}
	g.bytes, g.files = size(1<<20, w.root)
	return cmd, g, nil
}

// A lent is what belongs to the user of a program while it runs.
type lent struct{ owners map[string][2]int }

// lend makes a user the owner of some folders, with all that is in them; the user 0 changes nothing.
func lend(user int, folders []string) (*lent, error) {
	l := &lent{owners: map[string][2]int{}}
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			return l, err
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && user != 0 {
			l.owners[folder] = [2]int{int(owner.Uid), int(owner.Gid)}
			if err := ownAll(folder, user, user); err != nil {
				l.takeBack()
				return l, err
			}
		}
	}
	return l, nil
}

// takeBack gives the folders, and what is in them, to those who had the folders before.
func (l *lent) takeBack() {
	for folder, owner := range l.owners {
		_ = ownAll(folder, owner[0], owner[1]) // what cannot be taken back stays readable for root
	}
}

func ownAll(folder string, user, group int) error {
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		return cmp.Or(err, os.Lchown(path, user, group))
	})
}
