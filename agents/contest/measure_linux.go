package contest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Measure returns what a process, its group, and all that they have started take. Memory is what they have of their
// own and of files (RssAnon, RssFile, HugetlbPages), swapped out (VmSwap) and for tables of pages (VmPTE), what is
// mapped of each memory that they share without a file, mappingSize for each mapping, and for each socket the most that
// it can hold. Files of a tmpfs are not counted, also where they are mapped: their file system has a limit of its own.
func Measure(root int) Taking {
	m := measuring{shared: map[string]int64{}, sockets: map[string]bool{}, mapped: map[string]string{},
		open: map[string]bool{}}
	m.Processes = family(root)
	for _, pid := range m.Processes {
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
	processes(func(pid int, dir string) {
		if fields := statFields(short(dir + "stat")); len(fields) >= 3 {
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
	fields := statFields(short("/proc/" + strconv.Itoa(pid) + "/stat"))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// ticksPerSecond is the unit of times in /proc, the same on all processors (USER_HZ).
const ticksPerSecond = 100

// ticks adds up fields that are times.
func ticks(fields [][]byte) (sum time.Duration) {
	for _, text := range fields {
		n, _ := strconv.ParseInt(string(text), 10, 64)
		sum += time.Duration(n) * (time.Second / ticksPerSecond)
	}
	return sum
}

// measure adds what one process takes; dir is its folder in /proc.
func (t *measuring) measure(dir string) {
	memory, threads, alive := status(dir)
	t.Threads += threads
	if fields := statFields(short(dir + "stat")); len(fields) > 14 { // of itself, and of children that have ended
		t.CPU += ticks(fields[11:15])
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
	text, _ := os.ReadFile(dir + "status") // of any length: it lists the groups of the user
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

// mappingSize is about what the kernel needs for a mapping, in bytes.
const mappingSize = 256

// mappings adds what the mappings of a process take themselves, the memory without a file that it shares, and the
// deleted files that it has mapped.
func (t *measuring) mappings(dir string) error {
	f, err := os.Open(dir + "maps")
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); t.Mappings <= mostMappings && lines.Scan(); {
		t.Mappings, t.Memory = t.Mappings+1, t.Memory+mappingSize
		if !bytes.HasSuffix(lines.Bytes(), []byte(deleted)) {
			continue
		}
		// address-address rights offset device inode path
		fields := strings.Fields(lines.Text())
		rest, _ := strings.CutSuffix(lines.Text(), deleted)
		if len(fields) < 6 {
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

// readUsage returns what a process, with all that it has started, has used. It costs about 20 µs for each thread.
func readUsage(root int) (r reading) {
	uptime := numbers("/proc/uptime")
	if len(uptime) < 2 {
		return r
	}
	r = reading{map[int]time.Duration{}, map[int]turns{}, 0, time.Duration(uptime[1] * float64(time.Second))}
	for todo := []int{root}; len(todo) > 0; {
		pid := todo[0]
		todo = todo[1:]
		dir := "/proc/" + strconv.Itoa(pid) + "/"
		fields := statFields(short(dir + "stat"))
		if len(fields) <= 14 {
			continue // it has ended
		}
		r.processes[pid] = ticks(fields[11:13])
		r.ended += ticks(fields[13:15])
		tasks, _ := os.ReadDir(dir + "task")
		for _, task := range tasks {
			thread, _ := strconv.Atoi(task.Name())
			times := numbers(dir + "task/" + task.Name() + "/schedstat")
			if len(times) < 2 {
				continue
			}
			r.threads[thread] = turns{time.Duration(times[0]), time.Duration(times[1])}
			for _, child := range numbers(dir + "task/" + task.Name() + "/children") {
				todo = append(todo, int(child))
			}
		}
	}
	return r
}

// short returns a file of /proc of at most 4 KiB, "" if it cannot be read: with fewer system calls than os.ReadFile.
func short(path string) []byte {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var text [4096]byte
	n, _ := syscall.Read(fd, text[:])
	return bytes.Clone(text[:max(n, 0)])
}

// numbers returns the numbers of a file.
func numbers(path string) (list []float64) {
	text := short(path)
	for _, word := range strings.Fields(string(text)) {
		n, _ := strconv.ParseFloat(word, 64)
		list = append(list, n)
	}
	return list
}

// givesWay reports whether a thread, or its session, lets others run before it: by its nice value or its scheduler.
func givesWay(thread int) bool {
	dir := "/proc/" + strconv.Itoa(thread) + "/"
	const nice, policy = 16, 38
	fields := statFields(short(dir + "stat"))
	if len(fields) <= policy {
		return true
	}
	own, _ := syscall.Getpriority(syscall.PRIO_PROCESS, 0) // 20 and more for a nice value of 0 and less
	value, _ := strconv.Atoi(string(fields[nice]))
	group := short(dir + "autogroup")
	late := len(group) > 0 && !bytes.HasSuffix(group, []byte(" nice 0\n"))
	return late || value > 20-own || string(fields[policy]) != "0"
}

// ready reports whether a thread could run now, or does, and does not give way to others.
func ready(thread int) bool {
	fields := statFields(short("/proc/" + strconv.Itoa(thread) + "/stat"))
	return len(fields) > 0 && string(fields[0]) == "R" && !givesWay(thread)
}

// awaiting returns a function that waits until there is something to read, and then returns for how long this thread
// has waited for a processor meanwhile. The calling goroutine is locked to its thread.
func awaiting(from io.Reader) func() time.Duration {
	file, ok := from.(syscall.Conn)
	if !ok {
		return func() time.Duration { return 0 }
	}
	raw, err := file.SyscallConn()
	own := "/proc/self/task/" + strconv.Itoa(syscall.Gettid()) + "/schedstat"
	waited := func() time.Duration { return time.Duration(append(numbers(own), 0, 0)[1]) }
	const fits = 1024 // descriptors that select takes
	return func() (delay time.Duration) {
		for ready := false; err == nil && !ready; {
			before := waited()
			err = raw.Read(func(fd uintptr) bool {
				var set syscall.FdSet
				period := syscall.Timeval{Usec: 50_000} // after which the deadline of the file is looked at
				if ready = fd >= fits; !ready {
					set.Bits[fd/wordBits] |= 1 << (fd % wordBits)
					n, _ := syscall.Select(int(fd)+1, &set, nil, nil, &period)
					ready = n > 0
				}
				return true
			})
			delay = waited() - before
		}
		return max(0, delay)
	}
}

// wordBits is how many descriptors a word of a syscall.FdSet has.
const wordBits = uintptr(strconv.IntSize)

// Workers returns n or, if that is 0, how many processors other programs leave to this one now, at least 1. It tries
// for a moment.
func Workers(n int) int {
	if n != 0 {
		return n
	}
	const moment = 100 * time.Millisecond
	var ran atomic.Int64
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			own := "/proc/self/task/" + strconv.Itoa(syscall.Gettid()) + "/schedstat"
			from := append(numbers(own), 0)[0]
			for end := time.Now().Add(moment); time.Now().Before(end); {
			}
			ran.Add(int64(append(numbers(own), 0)[0] - from))
		})
	}
	all.Wait()
	return int(max(1, (ran.Load()+int64(moment)/2)/int64(moment)))
}
