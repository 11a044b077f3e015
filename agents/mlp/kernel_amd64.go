//go:build amd64 && !noasm

package mlp

import "golang.org/x/sys/cpu"

func init() { setVector(hasVector) }

// hasVector reports whether this machine can run the AVX2 kernels.
var hasVector = cpu.X86.HasAVX2

// setVector turns the AVX2 kernels on or off for all networks.
func setVector(on bool) {
	vectorAdd, vectorDot, vectorPair, vectorChange, vectorWhole, vectorSum = nil, nil, nil, nil, nil, nil
	vectorScale, vectorLeak = nil, nil
	if on {
		vectorScale, vectorLeak = scaleAVX2, leakAVX2
		vectorAdd, vectorDot, vectorPair = addRowsAVX2, leakyDotAVX2, pairAVX2
		vectorChange, vectorWhole, vectorSum = changeAVX2, wholeDotAVX2, sumEightAVX2
	}
}

// add1x64 adds x·w to 64 columns of one row of dst. It skips inputs that are 0, of which features have many. w has in
// rows, wide floats apart.
//
//go:noescape
func add1x64(dst, x, w *float32, in, wide int)

// add2x32 adds x0·w and x1·w to 32 columns of two rows of dst. w has in rows, wide floats apart.
//
//go:noescape
func add2x32(dst0, dst1, x0, x1, w *float32, in, wide int)

// add1x32 adds x·w to 32 columns of one row of dst.
//
//go:noescape
func add1x32(dst, x, w *float32, in, wide int)

// add1x8 adds x·w to 8 columns of one row of dst.
//
//go:noescape
func add1x8(dst, x, w *float32, in, wide int)

// dot8 is leakyDot.
//
//go:noescape
func dot8(h, w *float32, n int) float32

// pair64 takes one row through a layer of 64 outputs and a last one of one output, without its bias: w has in rows of
// 64, v has 64 weights.
//
//go:noescape
func pair64(acc, x, w, v *float32, in int) float32

// change64 sets 64 columns of dst to those of from plus (x - last)·split. in is a multiple of 8, split has in rows,
// wide words apart. It takes mostChange in place of greater differences, and returns the greatest one.
//
//go:noescape
func change64(dst, from, x, last, split *int32, in, wide int) int32

// whole8 is leakyDot for whole numbers.
//
//go:noescape
func whole8(h *int32, w *float32, n int) float32

// leak8 sets dst to the leaky ReLU of h·part.
//
//go:noescape
func leak8(dst *float32, h *int32, part float32, n int)

// sum8 is sumEight for n ≥ 1 terms.
//
//go:noescape
func sum8(terms *int32, w, out *float32, n int)

// scale16 is scale for rows ≥ 1 rows of padded counts, a multiple of 8. It writes all of them to out, each row over the
// end of the one before.
//
//go:noescape
func scale16(counts *int16, units, out *float32, rows, padded, in int)

// addRowsAVX2 is addRows. It checks the bounds of all three slices, as the kernels do not.
func addRowsAVX2(dst, x, w []float32, rows, in, stride, wide int) {
	if rows <= 0 || in <= 0 {
		return
	}
	_, _, _ = dst[rows*wide-1], x[(rows-1)*stride+in-1], w[in*wide-1]
	c := 0
	for ; c+64 <= wide; c += 64 {
		for r := 0; r < rows; r++ {
			add1x64(&dst[r*wide+c], &x[r*stride], &w[c], in, wide)
		}
	}
	for ; c+32 <= wide; c += 32 {
		for r := 0; r+1 < rows; r += 2 {
			add2x32(&dst[r*wide+c], &dst[(r+1)*wide+c], &x[r*stride], &x[(r+1)*stride], &w[c], in, wide)
		}
		if last := rows - 1; last%2 == 0 { // a row without a partner
			add1x32(&dst[last*wide+c], &x[last*stride], &w[c], in, wide)
		}
	}
	for ; c < wide; c += 8 {
		for r := 0; r < rows; r++ {
			add1x8(&dst[r*wide+c], &x[r*stride], &w[c], in, wide)
		}
	}
}

func leakyDotAVX2(h, w []float32) float32 {
	if len(w) == 0 {
		return 0
	}
	_ = h[len(w)-1]
	return dot8(&h[0], &w[0], len(w))
}

// pairAVX2 takes rows of in ≥ 1 inputs through a layer of 64 outputs, whose sums begin with acc, and a last layer of
// one output. It adds in the order of addRows and leakyDot.
func pairAVX2(acc, x, w, v []float32, bias float32, in int, out []float32) {
	_, _, _, _ = acc[63], x[len(out)*in-1], w[64*in-1], v[63]
	for r := range out {
		out[r] = bias + pair64(&acc[0], &x[r*in], &w[0], &v[0], in)
	}
}

// mostChange is the greatest difference of two counts whose product with 2^splitBits fits into 16 bits.
const mostChange = 1<<(15-splitBits) - 1

// changeAVX2 sets dst to from plus (x - last)·split, at most mostChange at a time; rest is memory.
func changeAVX2(dst, from, x, last, rest, split []int32) {
	in, wide := len(x), len(dst)
	_, _, _ = from[wide-1], last[in-1], split[len(split)-1]
	for {
		greatest := int32(0)
		for c := 0; c < wide; c += block64 {
			greatest = change64(&dst[c], &from[c], &x[0], &last[0], &split[c], in, wide)
		}
		if greatest <= mostChange {
			return
		}
		for i, v := range last {
			rest[i] = x[i] - min(max(x[i]-v, -mostChange), mostChange)
		}
		x, from = rest, dst
	}
}

func wholeDotAVX2(h []int32, w []float32) float32 {
	_ = h[len(w)-1]
	return whole8(&h[0], &w[0], len(w))
}

func leakAVX2(dst []float32, h []int32, part float32) {
	_ = dst[len(h)-1]
	leak8(&dst[0], &h[0], part, len(h))
}

func sumEightAVX2(terms [][8]int32, w []float32, out *[8]float32) {
	_ = terms[len(w)-1]
	sum8(&terms[0][0], &w[0], &out[0], len(w))
}

func scaleAVX2(counts []int16, units []float32, in int, out []float32) {
	padded := len(units)
	if rows := len(counts) / padded; rows > 0 {
		_ = out[(rows-1)*in+padded-1]
		scale16(&counts[0], &units[0], &out[0], rows, padded, in)
	}
}
