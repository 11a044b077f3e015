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

// addresses returns how much of its address space this process has in use, in bytes. Go reserves more than it uses.
func addresses() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _, _ := strings.Cut(string(b), " ")
	n, err := strconv.ParseInt(pages, 10, 64)
	if err != nil {
		return 0
	}
	return n * int64(os.Getpagesize())
}

// machineMemory returns the memory that this process may take, in bytes, and what bounds it.
func machineMemory() (most int64, bound string) {
	most, bound = cgroupMemory(os.DirFS("/")), "cgroup"
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err == nil && limit.Cur < math.MaxInt64 {
		if left := max(0, int64(limit.Cur)-addresses()); left < most {
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
