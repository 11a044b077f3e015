//go:build !linux

package limits

import "math"

// kernelLimits returns how many mappings and file descriptors the kernel allows this process: unknown here.
func kernelLimits() (mappings, files int) { return math.MaxInt, math.MaxInt }

// machineMemory returns the memory that this process may take, in bytes, and what bounds it: unknown here.
func machineMemory() (int64, string) { return Unlimited, "" }
