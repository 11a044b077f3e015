package limits

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Unlimited is the memory of a process that nothing bounds, and a MaxMemory that bounds nothing.
const Unlimited = int64(math.MaxInt64)

// Fitting returns the largest MaxMemory that leaves this process room for all else, out of the memory that it may take,
// and what bounds that. It is a quarter less, which also has room for what a process takes beyond MaxMemory, but for
// little memory half.
func Fitting() (bytes int64, bound string) {
	most, bound := machine()
	return fitting(most), bound
}

// machine is machineMemory at the start, before this process takes much.
var machine = sync.OnceValues(machineMemory)

func fitting(most int64) int64 {
	const beside = 256 << 20
	return max(min(most-most/4, most-beside), most/2)
}

// cgroupMemory returns the memory that the control groups of this process allow, in bytes: the least of its group and
// of all above it, of version 2 and 1. root is the root of the file system.
func cgroupMemory(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return Unlimited
	}
	most := Unlimited
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(parts) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if parts[1] == "memory" {
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if b, err := fs.ReadFile(root, path.Join(mount, group, file)); err == nil {
				if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil { // else "max"
					most = min(most, n)
				}
			}
			if group == "/" {
				break
			}
		}
	}
	return most
}
