package limits

import (
	"fmt"
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

// machineMemory returns the memory that this process may take, in bytes, and what bounds it.
func machineMemory() (most int64, bound string) {
	most, bound = cgroupMemory(os.DirFS("/")), "cgroup"
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err == nil && limit.Cur < math.MaxInt64 {
		var pages int64 // in use: Go reserves more than it uses
		if b, err := os.ReadFile("/proc/self/statm"); err == nil {
			_, _ = fmt.Sscan(string(b), &pages)
		}
		if left := max(0, int64(limit.Cur)-pages*int64(os.Getpagesize())); left < most {
			most, bound = left, "RLIMIT_AS (ulimit -v)"
		}
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		if ram := int64(uint64(info.Totalram) * uint64(info.Unit)); ram < most {
			most, bound = ram, "RAM"
		}
	}
	return most, bound
}
