package selfplay

import (
	"time"

	"golang.org/x/sys/windows"
)

// cpuTime returns the CPU time of this process so far, or 0 if it is not known.
func cpuTime() time.Duration {
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) != nil {
		return 0
	}
	// In units of 100 ns.
	hundreds := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (hundreds(kernel) + hundreds(user)))
}
