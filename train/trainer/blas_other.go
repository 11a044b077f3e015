//go:build !amd64 || noasm

package trainer

const hasFMA = false

func tile4x16(tile, a, panel *float32, rs, cs, k int) { panic("trainer: no kernel on this machine") }
func tile1x16(tile, a, panel *float32, cs, k int)     { panic("trainer: no kernel on this machine") }
