package contest

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Measure returns what a process, its group, and all that they have started take. Memory is what they have of their own
// and of files (RssAnon, RssFile), swapped out (VmSwap) and for tables of pages (VmPTE), the whole of each memory that
// they share without a file, whether it is in use or not, and for each socket the most that it can hold. Files of a
// tmpfs are not counted, also where they are mapped: their file system has a limit of its own.
func Measure(root int) (t Taking) {
	shared := map[string]int64{} // by inode
	for _, pid := range family(root) {
		t.measure("/proc/"+strconv.Itoa(pid)+"/", shared)
	}
	for _, bytes := range shared {
		t.Memory += bytes
	}
	return t
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

// ticksPerSecond is the unit of times in /proc, the same on all processors (USER_HZ).
const ticksPerSecond = 100

// measure adds what one process takes; dir is its folder in /proc.
func (t *Taking) measure(dir string, shared map[string]int64) {
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		return // it has ended
	}
	for line := range bytes.Lines(status) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		number, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "RssAnon", "RssFile", "VmSwap", "VmPTE":
			t.Memory += number << 10
		case "Threads":
			t.Threads += int(number)
		}
	}
	if stat, err := os.ReadFile(dir + "stat"); err == nil {
		if fields := statFields(stat); len(fields) > 14 { // of itself, and of children that have ended
			for _, ticks := range fields[11:15] {
				n, _ := strconv.ParseInt(string(ticks), 10, 64)
				t.CPU += time.Duration(n) * (time.Second / ticksPerSecond)
			}
		}
	}
	t.sharedMemory(dir, shared)
	t.openFiles(dir)
}

// sharedMemory adds the memory without a file that a process shares: a page need not be mapped to be kept.
func (t *Taking) sharedMemory(dir string, shared map[string]int64) {
	f, err := os.Open(dir + "maps")
	if err != nil {
		t.Hidden = t.Hidden || errors.Is(err, fs.ErrPermission)
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// address-address rights offset device inode name
		if !bytes.HasSuffix(lines.Bytes(), []byte("(deleted)")) && !bytes.Contains(lines.Bytes(), []byte("anon_inode:")) {
			continue
		}
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[5] != "/dev/zero" && !strings.HasPrefix(fields[5], "/memfd:") &&
			!strings.HasPrefix(fields[5], "/SYSV") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		begin, _ := strconv.ParseInt(from, 16, 64)
		end, _ := strconv.ParseInt(to, 16, 64)
		offset, _ := strconv.ParseInt(fields[2], 16, 64)
		key := fields[3] + " " + fields[4]
		shared[key] = max(shared[key], offset+end-begin)
	}
}

// few is how many open files of a process are not looked at: they hold too little to matter.
const few = 16

// socketSize is the most that a socket can hold, in bytes: what may be sent before it is read, and one message more.
var socketSize = sync.OnceValue(func() int64 {
	text, _ := os.ReadFile("/proc/sys/net/core/wmem_default")
	size, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		size = 208 << 10
	}
	return size + 64<<10
})

// openFiles adds the open files of a process.
func (t *Taking) openFiles(dir string) {
	files, err := os.ReadDir(dir + "fd")
	t.Hidden = t.Hidden || errors.Is(err, fs.ErrPermission)
	t.Open += len(files)
	sockets := 0
	for _, file := range files {
		switch to, _ := os.Readlink(dir + "fd/" + file.Name()); {
		case strings.HasPrefix(to, "socket:"):
			if sockets++; sockets > few {
				t.Memory += socketSize()
			}
		case strings.HasSuffix(to, " (deleted)"):
			if info, err := os.Stat(dir + "fd/" + file.Name()); err == nil && info.Mode().IsRegular() {
				t.Deleted += info.Size()
			}
		}
	}
}
