package mlp

// vectorScale is scale in vector instructions, with the same bits. It is set as vectorAdd is.
var vectorScale func(counts []int16, units []float32, in int, out []float32)

// Scale writes rows of inputs that are counts, each times its unit, to out. counts is [rows][len(units)], where
// len(units) is a multiple of 8, and out is [rows][in], in at most len(units). After the rows, out has room for the
// len(units)-in counts that are no inputs; they are written or not.
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
