package contest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// usage returns the resident memory, in bytes, and the number of threads of a process, its group, and all that they
// have started: in a PID namespace, all of it.
func usage(root int) (memory int64, threads int) {
	type process struct{ parent, group, threads, pages int }
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The second field, a name in brackets, may contain anything. The fields behind it begin with the third, and
		// fields[21] is the resident memory in pages.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || len(fields) < 22 {
			continue
		}
		number := func(k int) int { n, _ := strconv.Atoi(string(fields[k])); return n }
		all[pid] = process{number(1), number(2), number(17), number(21)}
	}
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
	for pid, p := range all {
		if belongs(pid) {
			memory, threads = memory+int64(p.pages)*int64(os.Getpagesize()), threads+p.threads
		}
	}
	return memory, threads
}
