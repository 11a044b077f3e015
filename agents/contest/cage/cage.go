// Package cage contains programs that somebody else wrote. It needs no root.
//
// On Linux with bubblewrap (the command bwrap), a contained program has a file system, processes, a network and memory
// of its own, which bubblewrap makes of namespaces: the system's programs and libraries are there to be read, and so is
// what its Cage names. Everything else is absent. The program's own files are read-only in /bot. Its working folder,
// /work/bot, is a copy of them in a tmpfs of fixed size, which begins anew with each process and goes with it. seccomp
// allows it the system calls of a list, and the host measures what no file system or limit bounds (room_linux.go).
//
// Bubblewrap was chosen over code of our own because others test it, because it needs no second start of this program
// inside, which took longer than all the rest, and because its arguments are the list of all that a program sees.
// Landlock is not used beside it: in a root of its own there is nothing left for it to forbid.
//
// Where bubblewrap or the namespaces that it needs are missing, this program runs itself again, and that process puts
// up the walls that the kernel has (Landlock, seccomp, limits; see walls_linux.go) and becomes the contained program.
// Its working folder is then a copy in the system's folder for temporary files. Missing names what is not to be had
// here. Elsewhere than on Linux there are no walls, only the working folder of its own.
package cage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blockyard/agents/contest"
)

// A Mode says which programs are contained.
type Mode string

// The modes.
const (
	Auto    Mode = "auto"    // the programs of others, by the walls that this machine has
	Require Mode = "require" // the same, and it is an error if a wall is missing
	Off     Mode = "off"     // none
)

// Check returns an error if the mode requires walls that are missing here.
func (m Mode) Check() error {
	if missing := Missing(); m == Require && len(missing) > 0 {
		return fmt.Errorf("--isolate require: missing here: %s", strings.Join(missing, "; "))
	}
	return nil
}

// Limits bound what a contained program takes from the machine. Past one of them it is ended, or refused more.
type Limits struct {
	Disk    int64         // bytes that it may write, in its working folder and in folders for temporary files
	Files   int           // number of files there
	Threads int           // of all its processes together
	Open    int           // open files of a process; all together may have four times as many
	CPU     time.Duration // processor time of all its processes together; 0 is no limit
}

// exceeds says what a program takes too much of, "" for nothing.
func (l *Limits) exceeds(taken *contest.Taking, memory int64) string {
	if l.CPU > 0 && taken.CPU > l.CPU {
		return fmt.Sprintf("it has used %v of processor time, want at most %v", taken.CPU, l.CPU)
	}
	return taken.Exceeds(memory, l.Threads, 4*l.Open)
}

// The limits of bots and of compilers.
var (
	Bot      = Limits{Disk: 256 << 20, Files: 10_000, Threads: 512, Open: 1024}
	Compiler = Limits{Disk: 1 << 30, Files: 100_000, Threads: 4096, Open: 4096}
)

// A Cage says what a contained program may reach, beside the system's programs and libraries. All paths are absolute.
type Cage struct {
	Files  string   // a folder with which the program's working folder begins, also if Hidden has it; "" for an empty one
	Also   string   // a path under which the program knows its working folder, too; "" for none
	Dir    string   // where it starts, if Spec.Dir does not say: a path, or one below the working folder
	Read   []string // files and folders that it may read
	Write  []string // folders that it may write, beside its working folder
	Hidden []string // what it may not read although it is in one of these folders
	Env    []string // variables for it, beside those of the environment that are passed on
	Open   bool     // there are no walls: the program may do what this process may
	Limits
}

var _ contest.Cage = (*Cage)(nil)

// Large folders are not copied for each process: what begins in one may only read it.
const (
	mostCopied      = 64 << 20 // bytes
	mostCopiedFiles = 2000
)

// For returns the cage of a command that somebody named: its working folder is a copy of the folder in which its files
// are, such as bots/a of "python3 bots/a/bot.py", without what is hidden there.
func For(argv []string, dir string, hidden ...string) *Cage {
	dir, err := filepath.Abs(dir)
	c := &Cage{Limits: Bot, Dir: dir}
	if err != nil {
		return c // this process has no working folder any more, so that no file was named
	}
	for _, path := range hidden {
		if path, err := filepath.Abs(path); err == nil {
			c.Hidden = append(c.Hidden, path)
		}
	}
	for _, file := range Named(argv, dir) {
		folder := file
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			folder = filepath.Dir(file)
		}
		bytes, files := size(mostCopiedFiles, folder)
		switch {
		case slices.ContainsFunc(c.Hidden, func(h string) bool { return within(file, h) }):
		case private(folder):
			c.Read = append(c.Read, file)
		case c.Files == "" && bytes <= mostCopied && files <= mostCopiedFiles:
			c.Files, c.Also = folder, folder
		case !within(folder, c.Files):
			c.Read = append(c.Read, folder)
		}
	}
	return c
}

// Named returns the files and folders that the words of a command name, as absolute paths, without those that every
// contained program may read, such as /usr/bin/env: they are nobody's own.
func Named(argv []string, dir string) (files []string) {
	for _, word := range strings.Fields(strings.Join(argv, " ")) {
		word = strings.Trim(word, `"'`+"`;()&|")
		if word == "" || word[0] == '-' {
			continue
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		path, err := filepath.Abs(word)
		ours := slices.ContainsFunc(readable(), func(r string) bool { return within(path, r) })
		if _, missing := os.Stat(path); err == nil && missing == nil && !ours {
			files = append(files, path)
		}
	}
	return files
}

// within reports whether path is folder or lies in it; both are absolute.
func within(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && folder != "" && filepath.IsLocal(rest)
}

// private reports whether a folder is so general that no program may read it as its own: it holds the home folder or
// the folder of temporary files, or is one of the system's.
func private(folder string) bool {
	home, _ := os.UserHomeDir()
	inside := []string{home, os.TempDir(), "/etc", "/var/lib", "/dev", "/run", "/proc", "/sys", "/usr"}
	return slices.ContainsFunc(inside, func(i string) bool { return i != "" && within(i, folder) })
}

// without lists path, or what is in it, so that no hidden path is among them or below.
func without(path string, hidden []string) (list []string) {
	inside := slices.ContainsFunc(hidden, func(h string) bool { return within(h, path) })
	switch {
	case slices.ContainsFunc(hidden, func(h string) bool { return within(path, h) }):
		return nil
	case !inside:
		return []string{path}
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		list = append(list, without(filepath.Join(path, e.Name()), hidden)...)
	}
	return list
}

// size returns how much is in a folder, and stops counting past a number of files. A path that is too long to be
// looked at counts as more than that.
func size(most int, folder string) (bytes int64, files int) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if isTooLong(err) {
			files = most + 1
		}
		if err != nil {
			return nil // it was removed meanwhile, or cannot be read
		}
		if files++; files > most {
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil && d.Type().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes, files
}

// Remove removes a folder to which a contained program could write: it may have taken away its own right to do so.
func Remove(folder string) error {
	if os.RemoveAll(folder) == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(folder)
}

// Opened returns the cage without walls, if it is one of this package.
func Opened(c contest.Cage) contest.Cage {
	if closed, ok := c.(*Cage); ok {
		open := *closed
		open.Open = true
		return &open
	}
	return c
}

// Enclose returns the command that starts a program in the cage; see contest.Cage.
func (c *Cage) Enclose(s *contest.Spec) (*exec.Cmd, contest.Contained, error) {
	dir := cmp.Or(s.Dir, c.Dir, ".")
	switch {
	case within(dir, c.Also):
		dir, _ = filepath.Rel(c.Also, dir)
	case !filepath.IsAbs(dir) && !filepath.IsLocal(dir):
		return nil, nil, fmt.Errorf("folder %q: want one below the working folder, or an absolute path", dir)
	}
	if !c.Open {
		return c.contained(s, dir)
	}
	w, err := c.workingFolder()
	if err != nil {
		return nil, nil, err
	}
	open := *s
	if open.Dir = dir; !filepath.IsAbs(dir) {
		open.Dir = filepath.Join(w.files, dir)
	}
	cmd, g, err := contest.Trusted.Enclose(&open)
	return cmd, visitor{g, w}, err
}

// A visitor is a program without walls, with a working folder.
type visitor struct {
	contest.Contained
	at *working
}

func (v visitor) Leave() {
	v.Contained.Leave()
	v.at.remove()
}

// A working is the working folder of one process, where there is no tmpfs for it.
type working struct {
	root      string // of both
	files     string // where the program begins
	temporary string
}

// workingFolder makes a folder that begins as the cage's files.
func (c *Cage) workingFolder() (*working, error) {
	root, err := os.MkdirTemp("", "cage-")
	if err != nil {
		return nil, err
	}
	w := &working{root, filepath.Join(root, "bot"), filepath.Join(root, "tmp")}
	err = errors.Join(os.Mkdir(w.files, 0o700), os.Mkdir(w.temporary, 0o700))
	for _, path := range c.begins() {
		local, _ := filepath.Rel(c.Files, path)
		err = cmp.Or(err, copyAll(path, filepath.Join(w.files, local)))
	}
	if err != nil {
		w.remove()
		return nil, err
	}
	return w, nil
}

// begins lists what of its files a program begins with.
func (c *Cage) begins() []string {
	if c.Files == "" {
		return nil
	}
	return without(c.Files, slices.DeleteFunc(slices.Clone(c.Hidden), func(h string) bool { return within(c.Files, h) }))
}

func (w *working) remove() { _ = Remove(w.root) }

// copyAll copies a file, or a folder with all that is in it.
func copyAll(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}
