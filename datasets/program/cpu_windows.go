package program

import (
	"time"

	"golang.org/x/sys/windows"
)

// CPU returns the CPU time, in user and kernel mode, of all threads of this process so far.
func CPU() (time.Duration, error) {
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user); err != nil {
		return 0, err
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user))), nil
}
