//go:build amd64 && !noasm

package trainer

import "golang.org/x/sys/cpu"

// hasFMA reports whether this machine runs the kernels below.
var hasFMA = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// tile4x16 writes to tile [4][16] the product of four rows of A, rs floats apart and cs
// floats from one element to the next, and a panel [k][16]; k ≥ 1.
//
//go:noescape
func tile4x16(tile, a, panel *float32, rs, cs, k int)

// tile1x16 is tile4x16 for one row.
//
//go:noescape
func tile1x16(tile, a, panel *float32, cs, k int)
