//go:build unix

package program

import (
	"syscall"
	"time"
)

// CPU returns the total CPU time of this process so far.
func CPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
