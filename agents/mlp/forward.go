package mlp

import (
	"errors"
	"fmt"
	"math"
)

const slope = 0.01 // the factor of the leaky ReLU below zero

// maxWidth is the most inputs or outputs of a layer, maxDepth the most layers.
const (
	maxWidth = 4096
	maxDepth = 16
)

// A Layer is y = W·x + B. W is [Out][In] in row-major order, the layout of PyTorch's nn.Linear.
type Layer struct {
	In, Out int
	W, B    []float32
}

// A Net is a network with the memory for a forward pass. Every goroutine needs a Clone of its own.
type Net struct {
	layers []Layer
	packed []packed
	hidden [2][]float32 // activations of a block of rows in two successive layers
	shared *fixedCache
}

// packed is a layer in the memory layout of the forward pass.
type packed struct {
	in, out, wide int       // wide: out rounded up to a multiple of 8
	single        bool      // the last layer, with one output
	w             []float32 // [in][wide]; if single, [in rounded up to a multiple of 8]
	b             []float32 // [wide]
}

const blockRows = 16 // the number of rows that pass through all layers together

// vectorAdd and vectorDot are addRows and leakyDot in vector instructions, with the same bits; vectorPair is both for
// a network of 64 hidden units and one output. vectorChange sets the sums of a Fixed, vectorWhole is leakyDot for whole
// numbers, and vectorLeak sets a row to the leaky ReLU of whole numbers times part. They are set before any network is
// used, or nil if the machine does not have them.
var (
	vectorAdd    func(dst, x, w []float32, rows, in, stride, wide int)
	vectorDot    func(h, w []float32) float32
	vectorPair   func(acc, x, w, v []float32, bias float32, in int, out []float32)
	vectorChange func(dst, from, x, last, rest, split []int32)
	vectorWhole  func(h []int32, w []float32) float32
	vectorLeak   func(dst []float32, h []int32, part float32)
)

// New makes a network of layers, whose sizes must fit together. It keeps the slices.
func New(layers []Layer) (*Net, error) {
	if len(layers) == 0 || len(layers) > maxDepth {
		return nil, fmt.Errorf("mlp: %d layers, want 1 to %d", len(layers), maxDepth)
	}
	for i, l := range layers {
		if l.In < 1 || l.Out < 1 || l.In > maxWidth || l.Out > maxWidth {
			return nil, fmt.Errorf("mlp: layer %d is %d to %d, want 1 to %d", i, l.In, l.Out, maxWidth)
		}
		if len(l.W) != l.In*l.Out || len(l.B) != l.Out {
			return nil, fmt.Errorf("mlp: layer %d is %d to %d but has %d weights and %d biases",
				i, l.In, l.Out, len(l.W), len(l.B))
		}
		if i > 0 && layers[i-1].Out != l.In {
			return nil, fmt.Errorf("mlp: layer %d takes %d inputs, layer %d gives %d", i, l.In, i-1, layers[i-1].Out)
		}
		if !finite(l.W) || !finite(l.B) {
			return nil, errors.New("mlp: a weight is not a finite number")
		}
	}
	return Trusted(layers), nil
}

// Trusted is New without its checks, which would make a one-file bot longer.
func Trusted(layers []Layer) *Net {
	n := &Net{layers: layers, shared: new(fixedCache)}
	widest := 0
	for i, l := range layers {
		p := pack(l, i == len(layers)-1 && l.Out == 1)
		widest = max(widest, p.wide)
		n.packed = append(n.packed, p)
	}
	for i := range n.hidden {
		n.hidden[i] = make([]float32, blockRows*widest)
	}
	return n
}

// Layers returns the layers of the network, which the caller must not change.
func (n *Net) Layers() []Layer { return n.layers }

// In returns the number of inputs.
func (n *Net) In() int { return n.layers[0].In }

// Out returns the number of outputs.
func (n *Net) Out() int { return n.layers[len(n.layers)-1].Out }

// AccLen returns the length of the slice that Base writes: the outputs of the first layer, rounded up to a multiple of
// 8.
func (n *Net) AccLen() int { return n.packed[0].wide }

// Clone returns a network that shares only the weights with n.
func (n *Net) Clone() *Net {
	c := &Net{layers: n.layers, packed: n.packed, shared: n.shared}
	for i := range c.hidden {
		c.hidden[i] = make([]float32, len(n.hidden[i]))
	}
	return c
}

// Forward evaluates the inputs x, [rows][In], into out, [rows][Out].
func (n *Net) Forward(x []float32, rows int, out []float32) {
	n.ForwardFrom(n.packed[0].b, x, n.In(), rows, out)
}

// Base sets acc, of length AccLen, to the biases plus the products of inputs x, from the given index to In.
func (n *Net) Base(x []float32, from int, acc []float32) {
	p := &n.packed[0]
	copy(acc[:p.wide], p.b)
	if p.in > from {
		n.add(p, acc, x, from, p.in-from, p.in-from, 1)
	}
}

// ForwardFrom evaluates x, [rows][own], the first inputs of each row, into out, [rows][Out]; acc is from Base.
func (n *Net) ForwardFrom(acc, x []float32, own, rows int, out []float32) {
	if hasVector && vectorPair != nil && own > 0 && rows > 0 && n.pair() {
		last := &n.packed[1]
		vectorPair(acc, x, n.packed[0].w, last.w, last.b[0], own, out[:rows])
		return
	}
	for at := 0; at < rows; at += blockRows {
		k := min(rows-at, blockRows)
		n.block(acc, x[at*own:], own, k, out[at*n.Out():])
	}
}

// pair reports whether vectorPair can evaluate n.
func (n *Net) pair() bool {
	return len(n.packed) == 2 && n.packed[0].wide == 64 && n.packed[1].single
}

// block takes k ≤ blockRows rows through all layers.
func (n *Net) block(acc, x []float32, own, k int, out []float32) {
	stride := own
	for i := range n.packed {
		p := &n.packed[i]
		if p.single {
			n.single(p, acc, x, i, own, stride, k, out)
			return
		}
		h := n.hidden[i&1]
		from := p.b
		if i == 0 {
			from = acc
		} else {
			own = p.in
			leak(x, stride, own, k)
		}
		for r := 0; r < k; r++ {
			copy(h[r*p.wide:(r+1)*p.wide], from)
		}
		n.add(p, h, x, 0, own, stride, k)
		x, stride = h, p.wide
	}
	last := &n.packed[len(n.packed)-1]
	for r := 0; r < k; r++ {
		copy(out[r*last.out:(r+1)*last.out], x[r*last.wide:])
	}
}

// single evaluates a last layer that has one output.
func (n *Net) single(p *packed, acc, x []float32, i, own, stride, k int, out []float32) {
	for r := 0; r < k; r++ {
		if i == 0 { // no hidden layer: a plain sum of the inputs
			sum := acc[0]
			for j, v := range x[r*own : (r+1)*own] {
				sum += float32(v * p.w[j])
			}
			out[r] = sum
			continue
		}
		h := x[r*stride : r*stride+len(p.w)]
		if hasVector && vectorDot != nil {
			out[r] = p.b[0] + vectorDot(h, p.w)
		} else {
			out[r] = p.b[0] + leakyDot(h, p.w)
		}
	}
}

// add adds to each row of dst the products of x with the weights of inputs from to from+in.
func (n *Net) add(p *packed, dst, x []float32, from, in, stride, rows int) {
	if p.single {
		for r := 0; r < rows; r++ {
			for j := 0; j < in; j++ {
				dst[r*p.wide] += float32(x[r*stride+j] * p.w[from+j])
			}
		}
		return
	}
	w := p.w[from*p.wide : (from+in)*p.wide]
	if hasVector && vectorAdd != nil {
		vectorAdd(dst, x, w, rows, in, stride, p.wide)
		return
	}
	addRows(dst, x, w, rows, in, stride, p.wide)
}

// addRows adds x, rows of in numbers stride apart, times w [in][wide] to dst [rows][wide]; wide is a multiple of 8.
//
// It takes the inputs that are not 0 four at a time, so that dst is read and written once for four products; these
// are added one after the other.
func addRows(dst, x, w []float32, rows, in, stride, wide int) {
	for r := 0; r < rows; r++ {
		d, row := dst[r*wide:r*wide+wide], x[r*stride:r*stride+in]
		for i := 0; i < in; {
			var v [4]float32
			var at [4]int
			for k := 0; k < 4 && i < in; i++ {
				if row[i] != 0 {
					v[k], at[k] = row[i], i*wide
					k++
				}
			}
			a, b := w[at[0] : at[0]+wide][:len(d)], w[at[1] : at[1]+wide][:len(d)]
			c, e := w[at[2] : at[2]+wide][:len(d)], w[at[3] : at[3]+wide][:len(d)]
			p, q, s, t := v[0], v[1], v[2], v[3]
			for j := 0; j+8 <= len(d); j += 8 {
				o, a, b := d[j:j+8:j+8], a[j:j+8:j+8], b[j:j+8:j+8]
				c, e := c[j:j+8:j+8], e[j:j+8:j+8]
				o[0] = o[0] + float32(p*a[0]) + float32(q*b[0]) + float32(s*c[0]) + float32(t*e[0])
				o[1] = o[1] + float32(p*a[1]) + float32(q*b[1]) + float32(s*c[1]) + float32(t*e[1])
				o[2] = o[2] + float32(p*a[2]) + float32(q*b[2]) + float32(s*c[2]) + float32(t*e[2])
				o[3] = o[3] + float32(p*a[3]) + float32(q*b[3]) + float32(s*c[3]) + float32(t*e[3])
				o[4] = o[4] + float32(p*a[4]) + float32(q*b[4]) + float32(s*c[4]) + float32(t*e[4])
				o[5] = o[5] + float32(p*a[5]) + float32(q*b[5]) + float32(s*c[5]) + float32(t*e[5])
				o[6] = o[6] + float32(p*a[6]) + float32(q*b[6]) + float32(s*c[6]) + float32(t*e[6])
				o[7] = o[7] + float32(p*a[7]) + float32(q*b[7]) + float32(s*c[7]) + float32(t*e[7])
			}
		}
	}
}

// slopes are the factors of the leaky ReLU for numbers without and with a sign, which cannot be predicted.
var slopes = [2]float32{1, slope}

// leakyDot is the sum of w·leaky(h), as eight partial sums added in halves. Both have a length of n times 8.
func leakyDot(h, w []float32) float32 {
	var s [8]float32
	for i := 0; i+8 <= len(h) && i+8 <= len(w); i += 8 {
		a, b := h[i:i+8:i+8], w[i:i+8:i+8]
		for j := range s {
			v := float32(a[j] * slopes[math.Float32bits(a[j])>>31])
			s[j] += float32(v * b[j])
		}
	}
	for n := 4; n > 0; n /= 2 {
		for j := 0; j < n; j++ {
			s[j] += s[j+n]
		}
	}
	return s[0]
}

// leak applies the leaky ReLU to the first in numbers of each row; rows are stride apart.
func leak(h []float32, stride, in, rows int) {
	for r := 0; r < rows; r++ {
		row := h[r*stride : r*stride+in]
		for i, v := range row {
			row[i] = float32(v * slopes[math.Float32bits(v)>>31])
		}
	}
}

// pack puts a layer into the layout of the forward pass, padded with zeros.
func pack(l Layer, single bool) packed {
	p := packed{in: l.In, out: l.Out, wide: (l.Out + 7) &^ 7, single: single}
	p.b = make([]float32, p.wide)
	copy(p.b, l.B)
	if single {
		p.w = make([]float32, (l.In+7)&^7)
		copy(p.w, l.W)
		return p
	}
	p.w = make([]float32, l.In*p.wide)
	for o := 0; o < l.Out; o++ {
		for i := 0; i < l.In; i++ {
			p.w[i*p.wide+o] = l.W[o*l.In+i]
		}
	}
	return p
}

func finite(x []float32) bool {
	for _, v := range x {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}
