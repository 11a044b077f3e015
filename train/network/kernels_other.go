//go:build !amd64 || noasm

package network

const hasFMA = false

var hasWide bool

const noKernel = "trainer: no kernel on this machine"

func tile12x16(tile, a, panel *float32, ldc, rs, cs, k int, more bool) { panic(noKernel) }
func tile6x16(tile, a, panel *float32, ldc, rs, cs, k int, more bool)  { panic(noKernel) }
func tile1x16(tile, a, panel *float32, cs, k int, more bool)           { panic(noKernel) }
func activate8(y, bias *float32, slope float32, n int)                 { panic(noKernel) }
func backward8(dz, y, dy *float32, slope float32, n int)               { panic(noKernel) }
func add8(sum, x *float32, n int)                                      { panic(noKernel) }
func adam8(w, grad, m, v *float32, rate, c2 float32, n int)            { panic(noKernel) }
