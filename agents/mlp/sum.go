package mlp

// vectorSum is sumEight in vector instructions, with the same bits. It is set as vectorAdd is.
var vectorSum func(terms [][8]int32, w []float32, out *[8]float32)

// SumEight sets out[k] to the sum of terms[t][k]·w[t] over all t, in order, each step rounded to float32.
func SumEight(terms [][8]int32, w []float32, out *[8]float32) {
	if hasVector && vectorSum != nil {
		vectorSum(terms, w, out)
		return
	}
	sumEight(terms, w, out)
}

func sumEight(terms [][8]int32, w []float32, out *[8]float32) {
	*out = [8]float32{}
	for t, w := range w {
		for k, n := range &terms[t] {
			out[k] += float32(float32(n) * w)
		}
	}
}
