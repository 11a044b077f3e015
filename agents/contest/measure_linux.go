package contest

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Measure returns what a process, its group, and all that they have started take. Memory is what they have of their
// own and of files (RssAnon, RssFile, HugetlbPages), swapped out (VmSwap) and for tables of pages (VmPTE), what is
// mapped of each memory that they share without a file, and for each socket the most that it can hold. Files of a tmpfs
// are not counted, also where they are mapped: their file system has a limit of its own.
func Measure(root int) Taking {
	m := measuring{shared: map[string]int64{}, sockets: map[string]bool{}, mapped: map[string]string{},
		open: map[string]bool{}}
	for _, pid := range family(root) {
		m.measure("/proc/" + strconv.Itoa(pid) + "/")
	}
	for _, bytes := range m.shared {
		m.Memory += bytes
	}
	m.Memory += int64(max(0, len(m.sockets)-few)) * socketSize()
	for key, path := range m.mapped {
		if !m.open[key] {
			m.Unseen = append(m.Unseen, path)
		}
	}
	return m.Taking
}

// A measuring adds up what processes take. Those that share something take it once.
type measuring struct {
	Taking
	shared  map[string]int64  // bytes by device and inode
	sockets map[string]bool   // by inode
	mapped  map[string]string // paths of deleted files, by inode and path
	open    map[string]bool   // deleted files, by inode and path
}

// family returns a process, its group, and all that they have started.
func family(root int) (list []int) {
	type process struct{ parent, group int }
	all := map[int]process{}
	processes("stat", func(pid int, text []byte) {
		if fields := statFields(text); len(fields) >= 3 {
			parent, _ := strconv.Atoi(string(fields[1]))
			group, _ := strconv.Atoi(string(fields[2]))
			all[pid] = process{parent, group}
		}
	})
	belongs := func(pid int) bool {
		for range len(all) { // a process ID may have been given anew: parents could form a circle
			p, ok := all[pid]
			if !ok || pid == root || p.group == root {
				return ok
			}
			pid = p.parent
		}
		return false
	}
	for pid := range all {
		if belongs(pid) {
			list = append(list, pid)
		}
	}
	return list
}

// statFields are the fields of a file "stat" from the third on. The second, a name in brackets, may contain anything.
func statFields(text []byte) [][]byte { return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) }

// Parent returns the process that is the parent of another one, 0 if there is no such process any more.
func Parent(pid int) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := statFields(text)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// ticksPerSecond is the unit of times in /proc, the same on all processors (USER_HZ).
const ticksPerSecond = 100

// measure adds what one process takes; dir is its folder in /proc.
func (t *measuring) measure(dir string) {
	memory, threads, alive := status(dir)
	t.Threads += threads
	if stat, err := os.ReadFile(dir + "stat"); err == nil {
		if fields := statFields(stat); len(fields) > 14 { // of itself, and of children that have ended
			for _, ticks := range fields[11:15] {
				n, _ := strconv.ParseInt(string(ticks), 10, 64)
				t.CPU += time.Duration(n) * (time.Second / ticksPerSecond)
			}
		}
	}
	if !alive { // the others may go on when the first thread has ended
		tasks, _ := filepath.Glob(dir + "task/*")
		for k := 0; k < len(tasks) && !alive; k++ {
			dir = tasks[k] + "/"
			memory, _, alive = status(dir)
		}
	}
	t.Memory += memory
	if errs := errors.Join(t.mappings(dir), t.openFiles(dir)); errors.Is(errs, fs.ErrPermission) {
		_, _, alive = status(dir) // what ends shows nothing, either
		t.Hidden = t.Hidden || alive
	}
}

// status reads how much memory and how many threads a process or thread has, and whether it has any memory, which it
// has until it ends.
func status(dir string) (memory int64, threads int, alive bool) {
	text, _ := os.ReadFile(dir + "status")
	for line := range bytes.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		number, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "RssAnon", "RssFile", "HugetlbPages", "VmSwap", "VmPTE":
			memory, alive = memory+number<<10, true
		case "Threads":
			threads = int(number)
		}
	}
	return memory, threads, alive
}

// deleted is how paths of files end that have no name any more.
const deleted = " (deleted)"

// mappings adds the memory without a file that a process shares, and the deleted files that it has mapped.
func (t *measuring) mappings(dir string) error {
	f, err := os.Open(dir + "maps")
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// address-address rights offset device inode path
		fields := strings.Fields(lines.Text())
		rest, ok := strings.CutSuffix(lines.Text(), deleted)
		if !ok || len(fields) < 6 {
			continue
		}
		path := rest[strings.IndexByte(rest, '/'):]
		if path != "/dev/zero" && !strings.HasPrefix(path, "/memfd:") && !strings.HasPrefix(path, "/SYSV") {
			t.mapped[fields[4]+path] = path
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		begin, _ := strconv.ParseInt(from, 16, 64)
		end, _ := strconv.ParseInt(to, 16, 64)
		offset, _ := strconv.ParseInt(fields[2], 16, 64)
		key := fields[3] + " " + fields[4]
		t.shared[key] = max(t.shared[key], offset+end-begin)
		t.Hidden = true // what has been there may still be, although it is not mapped any more
	}
	return nil
}

// few is how many sockets are not counted: they hold too little to matter.
const few = 16

// socketSize is the most that a socket can hold, in bytes: what may be sent before it is read, and one message more, of
// the same size.
var socketSize = sync.OnceValue(func() int64 {
	text, _ := os.ReadFile("/proc/sys/net/core/wmem_default")
	size, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		size = 208 << 10
	}
	return 2*size + 64<<10
})

// openFiles adds the open files of a process.
func (t *measuring) openFiles(dir string) error {
	files, err := os.ReadDir(dir + "fd")
	t.Open += len(files)
	for _, file := range files {
		to, _ := os.Readlink(dir + "fd/" + file.Name())
		if strings.HasPrefix(to, "socket:") {
			t.sockets[to] = true
		}
		path, ok := strings.CutSuffix(to, deleted)
		if !ok {
			continue
		}
		info, err := os.Stat(dir + "fd/" + file.Name())
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		inode := strconv.FormatUint(info.Sys().(*syscall.Stat_t).Ino, 10)
		if key := inode + path; !t.open[key] {
			t.open[key] = true
			t.Deleted += info.Size()
		}
	}
	return err
}
