package limits

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelLimits returns how many mappings and file descriptors the kernel allows this process.
func kernelLimits() (mappings, files int) {
	mappings, files = math.MaxInt, math.MaxInt
	if b, err := os.ReadFile("/proc/sys/vm/max_map_count"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			mappings = n
		}
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil && limit.Cur < math.MaxInt {
		files = int(limit.Cur)
	}
	return mappings, files
}
