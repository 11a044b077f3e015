package network

// A layer computes y = f(x·W + b) of the rows of a batch, where f is LeakyReLU, or nothing in the last layer, and the
// gradients of the loss. It keeps its memory from one step to the next.
type layer struct {
	in, out int
	slope   float32   // of f below 0; 1 in the last layer
	w, b    []float32 // [in][out], [out]
	dw, db  []float32 // their gradients
	y, dy   []float32 // [batch][out], and its gradient
}

func newLayer(w, b []float32, batch int, slope float32) layer {
	out := len(b)
	return layer{len(w) / out, out, slope, w, b, make([]float32, len(w)), make([]float32, out),
		make([]float32, batch*out), make([]float32, batch*out)}
}

// forward computes y of some rows x.
func (l *layer) forward(m *multiplier, x []float32, rows int) []float32 {
	y := l.y[:rows*l.out]
	m.multiply(y, dense(x, rows, l.in), dense(l.w, l.in, l.out))
	activate(y, l.b, l.slope)
	return y
}

// backward computes, from the gradient of y, those of W, of b and, unless dx is nil, of x.
func (l *layer) backward(m *multiplier, x, dx []float32, rows int) {
	dz := l.dy[:rows*l.out]
	if l.slope != 1 {
		backward(dz, l.y[:len(dz)], dz, l.slope)
	}
	if dx != nil {
		m.multiply(dx[:rows*l.in], dense(dz, rows, l.out), dense(l.w, l.in, l.out).t())
	}
	m.multiply(l.dw, dense(x, rows, l.in).t(), dense(dz, rows, l.out))
	sumRows(l.db, dz)
}
