package contest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// groupMemory returns the resident memory of a process group, in bytes.
func groupMemory(group int) (total int64) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The second field, a name in brackets, may contain anything. The fields behind it begin with
		// the third: fields[2] is the process group, fields[21] the resident memory in pages.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) < 22 || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		if pages, err := strconv.ParseInt(string(fields[21]), 10, 64); err == nil {
			total += pages * int64(os.Getpagesize())
		}
	}
	return total
}
