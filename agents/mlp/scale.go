package mlp

// vectorScale is scale in vector instructions, with the same bits. It is set as vectorAdd is.
var vectorScale func(counts []int16, units []float32, in int, out []float32)

// Scale sets out to rows of inputs: counts, each times its unit. counts is [rows][len(units)], where len(units) is a
// multiple of 8, and out is [rows][in], where in is at most len(units): further counts are padding. After the rows, out
// needs len(units)-in more numbers, which Scale may overwrite.
func Scale(counts []int16, units []float32, in int, out []float32) {
	if hasVector && vectorScale != nil {
		vectorScale(counts, units, in, out)
		return
	}
	scale(counts, units, in, out)
}

func scale(counts []int16, units []float32, in int, out []float32) {
	for ; len(counts) >= len(units); counts, out = counts[len(units):], out[in:] {
		row, x := counts[:in], out[:in]
		for i, u := range units[:in] {
			x[i] = float32(row[i]) * u
		}
	}
}
