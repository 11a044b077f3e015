// Package cage contains programs that somebody else wrote. On Linux it needs no root: the program that starts them runs
// itself again, and that process puts up the walls, as far as the kernel has them, and then becomes the contained
// program. The walls are one list, in walls_linux.go. Elsewhere than on Linux there are none.
package cage

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"blockyard/agents/contest"
)

// A Mode says which programs are contained.
type Mode string

// The modes.
const (
	Auto    Mode = "auto"    // the programs of others, by the walls that this kernel has
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

// Limits bound what a contained program takes from the machine. Past one of them it is ended.
type Limits struct {
	Memory  int64 // bytes, with all that it starts; 0 is no limit
	Disk    int64 // bytes of its folder and its temporary files, beside what was there
	Files   int   // number of these files
	Threads int   // of all its processes together
	Open    int   // open files of a process
}

// The limits of bots and of compilers.
var (
	Bot      = Limits{Disk: 256 << 20, Files: 10_000, Threads: 512, Open: 1024}
	Compiler = Limits{Disk: 1 << 30, Files: 100_000, Threads: 4096, Open: 4096}
)

// A Cage says what a contained program may reach, beside the system's programs and libraries.
type Cage struct {
	Own    string   // folder that it may read and write, which the limits count; "" is none
	Read   []string // files and folders that it may read
	Hidden []string // what it may not read although it is in one of these folders
	Env    []string // variables for it, beside those of the environment that are passed on
	Limits
}

// For returns the cage of a command that somebody named: it may read the folder in which its files are, such as bots/a
// of "python3 bots/a/bot.py", without what is hidden there, and write it if nothing is.
func For(argv []string, dir string, hidden ...string) *Cage {
	c := &Cage{Limits: Bot}
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
		switch {
		case slices.ContainsFunc(system, func(s string) bool { return within(file, s) }):
		case private(folder):
			c.Read = append(c.Read, file)
		case c.Own == "" && !slices.ContainsFunc(c.Hidden, func(h string) bool { return within(h, folder) }):
			c.Own = folder
		default:
			c.Read = append(c.Read, folder)
		}
	}
	return c
}

// Named returns the files and folders that the words of a command name, as absolute paths.
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
		if _, missing := os.Stat(path); err == nil && missing == nil {
			files = append(files, path)
		}
	}
	return files
}

// within reports whether path is folder or lies in it; both are absolute.
func within(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}

// private reports whether a folder is so general that no program may read it as its own: it holds the home folder or
// the folder of temporary files, or is one of the system's.
func private(folder string) bool {
	home, _ := os.UserHomeDir()
	for _, inside := range []string{home, os.TempDir(), "/etc", "/var/lib", "/dev", "/run", "/proc", "/sys", "/usr"} {
		if inside != "" && within(inside, folder) {
			return true
		}
	}
	return false
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

// size returns how much is in some folders, and stops counting past a number of files.
func size(most int, folders ...string) (bytes int64, files int) {
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
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
	}
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

// walkShare is which part of the time, at most, is spent on looking at the files of a program.
const walkShare = 50

// A guest is a program in its cage. The host looks at what it takes of the machine, with all that it has started, where
// no limit of the system counts that.
type guest struct {
	limits  Limits
	scratch string   // a folder for its temporary files, in its own folder if it may write there
	folders []string // which it may write
	bytes   int64    // what was in them
	files   int
	next    time.Time // to look at them
}

var _ contest.Cage = (*Cage)(nil)

func (c *Cage) Enclose(cmd *exec.Cmd, before []string, memory int64) (contest.Guest, bool, error) {
	in, own := *c, ""
	in.Memory = memory
	if in.writable() {
		own = in.Own
	}
	scratch, err := os.MkdirTemp(own, "tmp-")
	if err != nil {
		return nil, false, err
	}
	g := &guest{limits: in.Limits, scratch: scratch, folders: []string{cmp.Or(own, scratch)}}
	g.bytes, g.files = size(noLimit, g.folders...)
	alone, err := in.wrap(cmd, before, g.scratch)
	if err != nil {
		g.Leave()
	}
	return g, alone, err
}

const noLimit = 1 << 40

// writable reports whether the cage's own folder may be written: nothing in it is hidden.
func (c *Cage) writable() bool {
	return c.Own != "" && !slices.ContainsFunc(c.Hidden, func(h string) bool { return within(h, c.Own) })
}

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

// system are the folders and files that every contained program may read.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store",
	"/proc", "/sys/devices/system", "/sys/kernel/mm/transparent_hugepage", "/sys/fs/cgroup",
	"/etc/alternatives", "/etc/ca-certificates*", "/etc/debian_version", "/etc/dotnet", "/etc/fonts", "/etc/group",
	"/etc/host.conf", "/etc/hosts", "/etc/java*", "/etc/ld.so.*", "/etc/locale*", "/etc/localtime", "/etc/mime.types",
	"/etc/mono", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/pki/tls/certs", "/etc/python*",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/terminfo", "/etc/timezone", "/var/lib/ghc",
}

var devices = []string{"/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"}

// tools may be read below the home folder, where languages are often installed; files with passwords are not there.
var tools = []string{
	".cargo/bin", ".cargo/config*", ".cargo/env", ".cargo/git", ".cargo/registry", ".rustup/settings.toml",
	".rustup/toolchains", ".local/bin", ".local/lib", ".pyenv/bin", ".pyenv/libexec", ".pyenv/shims", ".pyenv/version",
	".pyenv/versions", ".nvm/versions", ".sdkman/candidates", ".dotnet", "go/pkg/mod", "sdk",
}

// homes are variables that tell tools where they are installed: their own home folder is another one in a cage.
var homes = map[string]string{"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"}

// passed are the variables of the environment that contained programs get. A star stands for any ending.
var passed = []string{
	"CC", "CONDA_PREFIX", "CXX", "DOTNET_ROOT", "GOAMD64", "GOFLAGS", "GOMAXPROCS", "JAVA_HOME", "LANG", "LC_*",
	"LD_LIBRARY_PATH", "MKL_NUM_THREADS", "NODE_PATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "PYENV_VERSION",
	"PYTHON*", "SHELL", "TERM", "TZ", "USER", "VIRTUAL_ENV",
}

var readable = sync.OnceValue(func() (list []string) {
	home, _ := os.UserHomeDir()
	patterns := slices.Clone(system)
	for _, path := range tools {
		patterns = append(patterns, filepath.Join(home, path))
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // all patterns are valid, but for an odd home folder
		list = append(list, found...)
	}
	for _, bin := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(bin) && !private(bin) {
			list = append(list, bin)
		}
		list = append(list, installation(bin)...)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(p string) bool {
		return slices.ContainsFunc(list, func(q string) bool { return q != p && within(p, q) })
	})
})

// installation returns the folder of which bin, such as /usr/local/go/bin, is a part.
func installation(bin string) []string {
	folder := filepath.Dir(bin)
	hidden := strings.HasPrefix(filepath.Base(folder), ".") // such as .local and .cargo
	if filepath.Base(bin) != "bin" || !filepath.IsAbs(bin) || hidden || private(folder) {
		return nil
	}
	return []string{folder}
}

// program returns what a program that is started by path may need of its installation.
func program(path string) (list []string) {
	if found, err := exec.LookPath(path); err == nil {
		path = found
	}
	paths := []string{path}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		paths = append(paths, to)
	}
	for _, path := range paths {
		if path, err := filepath.Abs(path); err == nil && filepath.Dir(path) != path {
			list = append(append(list, path), installation(filepath.Dir(path))...)
		}
	}
	return list
}

// environment is what a contained program gets of ours, with a home and a folder for temporary files of its own.
func environment(temporary string, more []string) (list []string) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if slices.ContainsFunc(passed, func(p string) bool { ok, _ := filepath.Match(p, name); return ok }) {
			list = append(list, variable)
		}
	}
	home, _ := os.UserHomeDir()
	for name, folder := range homes {
		path := filepath.Join(home, folder)
		if set := os.Getenv(name); set != "" {
			path = set
		}
		if _, err := os.Stat(path); err == nil {
			list = append(list, name+"="+path)
		}
	}
	return append(append(list, "HOME="+temporary, "TMPDIR="+temporary), more...)
}
