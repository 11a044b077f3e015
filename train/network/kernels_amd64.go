//go:build amd64 && !noasm

package network

import "golang.org/x/sys/cpu"

// hasFMA reports whether this machine runs the kernels below.
var hasFMA = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// hasWide reports whether it also runs tile12x16.
var hasWide = hasFMA && cpu.X86.HasAVX512F

// tile12x16 is tile6x16 for twelve rows, with AVX-512. Each element is the same chain of fused multiply-adds.
//
//go:noescape
func tile12x16(tile, a, panel *float32, ldc, rs, cs, k int, more bool)

// tile6x16 computes a tile [6][16] of a product, rows of which lie ldc floats apart: k elements of six rows of A, rs
// floats apart and cs floats from one element to the next, times a panel [k][16]. It adds to the tile if more is set.
//
//go:noescape
func tile6x16(tile, a, panel *float32, ldc, rs, cs, k int, more bool)

// tile1x16 is tile6x16 for one row.
//
//go:noescape
func tile1x16(tile, a, panel *float32, cs, k int, more bool)

// activate8 is activate for n floats, a multiple of 8.
//
//go:noescape
func activate8(y, bias *float32, slope float32, n int)

// backward8 is backward for n floats, a multiple of 8.
//
//go:noescape
func backward8(dz, y, dy *float32, slope float32, n int)

// add8 adds n floats of x, a multiple of 8, to those of sum.
//
//go:noescape
func add8(sum, x *float32, n int)

// adam8 is update for n weights, a multiple of 8.
//
//go:noescape
func adam8(w, grad, m, v *float32, rate, c2 float32, n int)
