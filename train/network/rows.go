package network

import "math"

// slope is that of LeakyReLU below 0, as in mlp.
const slope = 0.01

// activate adds a bias to each row of y, [rows][len(bias)], and multiplies by slope what is then negative: 1 for none.
func activate(y, bias []float32, slope float32) {
	for ; len(y) > 0; y = y[len(bias):] {
		done := eights(len(bias))
		if done > 0 {
			activate8(&y[0], &bias[0], slope, done)
		}
		for i := done; i < len(bias); i++ {
			y[i] = leak(y[i]+bias[i], y[i]+bias[i], slope)
		}
	}
}

// backward computes dz from dy, the gradients before and after activate with this slope, and y, its result.
func backward(dz, y, dy []float32, slope float32) {
	done := eights(len(dz))
	if done > 0 {
		backward8(&dz[0], &y[0], &dy[0], slope, done)
	}
	for i := done; i < len(dz); i++ {
		dz[i] = leak(dy[i], y[i], slope)
	}
}

// leak returns x, times slope if sign is negative, also a negative zero.
func leak(x, sign, slope float32) float32 {
	if math.Signbit(float64(sign)) {
		return x * slope
	}
	return x
}

// sumRows adds up the rows of x, [rows][len(sum)], in their order.
func sumRows(sum, x []float32) {
	clear(sum)
	for ; len(x) > 0; x = x[len(sum):] {
		done := eights(len(sum))
		if done > 0 {
			add8(&sum[0], &x[0], done)
		}
		for i := done; i < len(sum); i++ {
			sum[i] += x[i]
		}
	}
}

// eights is how many of n floats the kernels do.
func eights(n int) int {
	if !hasFMA {
		return 0
	}
	return n &^ 7
}
