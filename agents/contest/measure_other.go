//go:build !linux

package contest

import (
	"io"
	"time"
)

// Measure returns nothing: only Linux says what a process and its descendants take.
func Measure(int) Taking { return Taking{} }

// readUsage returns nothing, nor do the others: then what a bot is charged with is all that passes.
func readUsage(int) (r reading) { return r }

func givesWay(int) bool { return true }
func ready(int) bool    { return false }

func awaiting(io.Reader) func() time.Duration { return func() time.Duration { return 0 } }

// Workers returns n or, if that is 0, 1: only Linux says what other programs leave.
func Workers(n int) int { return max(1, n) }
