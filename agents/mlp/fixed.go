package mlp

import (
	"math"
	"sync"
)

// A Fixed evaluates a network whose first inputs are counts: whole numbers, each times a unit. It adds the first layer
// in fixed point, in whole multiples of a power of two. Such sums do not depend on their order. So a Fixed computes
// those of a row from those of the row before and the counts that differ, with the same result on every machine and
// after any other row.
//
// The sums are 32 bits wide. They do not overflow while the mean size of the inputs, each weighted with the size of its
// weight, is at most 8 (mostInput). Features are far smaller.
type Fixed struct {
	net  *Net
	w    *fixedWeights
	x    []int32 // the counts of a row
	last []int32 // those of the row before
	rest []int32 // memory of the same length
	base []int32 // the biases and the sums over the shared inputs
	h    []int32 // the sums of a row
	from []int32 // those of the row before
	acc  []float32
	more []uint64
	list []int

	shared []float32 // the inputs that are not counts; longer before they are set
}

const mostInput = 8 // bounds the weighted mean size of the inputs of a Fixed

// fixedWeights are the weights of the inputs that are counts, times their units.
type fixedWeights struct {
	units []float32
	one   float64   // sums are in units of 1/one, a power of two
	wide  int       // outputs of the first layer, rounded up to a multiple of block64
	pairs []uint64  // [counts][-times to times][wide/2]: multiples for two outputs each, added up as one number
	split []int32   // the same, [counts][wide], as the kernel reads them; nil without vector instructions
	last  []float32 // the weights of a last layer of one output times 1/one, for vector instructions; nil for other layers
}

const block64 = 64 // how many outputs the kernel takes at a time

// Fixed returns an evaluator of n that shares its weights; the first len(units) inputs are counts times units.
func (n *Net) Fixed(units []float32) *Fixed {
	w := n.fixed(units)
	f := &Fixed{net: n, w: w, acc: make([]float32, n.AccLen()), more: make([]uint64, w.wide/2)}
	f.shared = make([]float32, n.In()+1)
	padded := (len(units) + 7) &^ 7
	f.list = make([]int, padded)
	f.x, f.last, f.rest = make([]int32, padded), make([]int32, padded), make([]int32, padded)
	f.base, f.h, f.from = make([]int32, w.wide), make([]int32, w.wide), make([]int32, w.wide)
	return f
}

// A fixedCache keeps the weights that the Fixeds of a network and of its clones share.
type fixedCache struct {
	mu sync.Mutex
	w  *fixedWeights
}

func (n *Net) fixed(units []float32) *fixedWeights {
	c := n.shared
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w == nil || !same(c.w.units, units) {
		c.w = newFixedWeights(n, units)
	}
	return c.w
}

func same(a, b []float32) bool {
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func newFixedWeights(n *Net, units []float32) *fixedWeights {
	p := &n.packed[0]
	w := &fixedWeights{units: units, one: fixedOne(n, units), wide: (p.wide + block64 - 1) &^ (block64 - 1)}
	w.pairs = make([]uint64, len(units)*multiples*w.wide/2)
	if hasVector {
		w.split = make([]int32, len(units)*w.wide)
	}
	l := &n.layers[0]
	for i, u := range units {
		for o := 0; o < l.Out; o++ {
			v := whole(float64(l.W[o*l.In+i]) * float64(u) * w.one)
			for k := 0; k < multiples; k++ {
				w.pairs[((i*multiples+k)*w.wide+o)/2] += uint64(int64(k-times)*int64(v)) << (uint(o) & 1 * 32)
			}
			if hasVector {
				w.split[i*w.wide+o] = splitWeight(v)
			}
		}
	}
	if hasVector && len(n.packed) == 2 && n.packed[1].single {
		w.last = make([]float32, w.wide)
		for i, v := range n.layers[1].W {
			w.last[i] = float32(float64(v) / w.one)
		}
	}
	return w
}

const splitBits = 7 // how many bits of a weight the lower half of a split one has

// splitWeight returns the word whose lower 16 bits and 2^splitBits times the upper ones, both signed, add up to v.
func splitWeight(v int32) int32 {
	low := v << (32 - splitBits) >> (32 - splitBits)
	return (v-low)>>splitBits<<16 | low&0xffff
}

// fixedOne is the greatest power of two with which neither a sum of the first layer nor a split weight overflows.
func fixedOne(n *Net, units []float32) float64 {
	l, most, great := &n.layers[0], 0., 0.
	for o := 0; o < l.Out; o++ {
		sum := math.Abs(float64(l.B[o]))
		for i, v := range l.W[o*l.In : (o+1)*l.In] {
			v := math.Abs(float64(v))
			sum += mostInput * v
			if i < len(units) {
				great = math.Max(great, v*float64(units[i]))
			}
		}
		most = math.Max(most, sum)
	}
	// A number is less than 2 to the power of its exponent; rounding must not make a weight as large as that.
	_, sums := math.Frexp(most)
	_, weights := math.Frexp(great * 1.001)
	e := 31 - sums
	if e > 15+splitBits-weights {
		e = 15 + splitBits - weights
	}
	return math.Ldexp(1, e)
}

func whole(v float64) int32 { return int32(math.Floor(v + 0.5)) }

// Counts returns the memory for the counts of the next row. Its contents are undefined: set all of them.
func (f *Fixed) Counts() []int32 { return f.x[:len(f.w.units)] }

// Share sets the inputs that are not counts, for the rows to come.
func (f *Fixed) Share(shared []float32) {
	if same(f.shared, shared) { // as in most decisions of a search
		return
	}
	f.shared = f.shared[:copy(f.shared, shared)]
	f.sum(shared)
	for i, v := range f.acc {
		b := whole(float64(v) * f.w.one)
		f.from[i] += b - f.base[i]
		f.base[i] = b
	}
}

// Value evaluates the counts and the shared inputs. After it, call Counts again. The network has one output.
func (f *Fixed) Value() float32 {
	if hasVector && vectorChange != nil {
		vectorChange(f.h, f.from, f.x, f.last, f.rest, f.w.split)
	} else {
		f.change()
	}
	f.x, f.last, f.h, f.from = f.last, f.x, f.from, f.h
	if hasVector && vectorChange != nil && f.w.last != nil {
		return f.net.packed[1].b[0] + vectorWhole(f.from, f.w.last)
	}
	x, part := f.net.hidden[0][:len(f.from)], float32(1/f.w.one)
	deep := len(f.net.packed) > 2
	if hasVector && vectorLeak != nil && deep {
		vectorLeak(x, f.from, part)
		return f.net.one(x)
	}
	for i, v := range f.from {
		x[i] = float32(v) * part // exact, but for the conversion
	}
	if deep {
		leak(x, 0, len(x), 1)
	}
	return f.net.one(x)
}

// sum sets acc to the biases plus the products of the shared inputs, as Net.Base does. Plain Go is shorter than that.
func (f *Fixed) sum(shared []float32) {
	if hasVector {
		f.net.Base(shared, len(f.w.units), f.acc)
		return
	}
	l := &f.net.layers[0]
	copy(f.acc, l.B)
	for i, v := range shared {
		for o := 0; v != 0 && o < l.Out; o++ {
			f.acc[o] += float32(v * l.W[o*l.In+len(f.w.units)+i])
		}
	}
}

// one takes one row in hidden[0] through the other layers: sums, or outputs before a layer that is not single.
func (n *Net) one(x []float32) float32 {
	for i := 1; i < len(n.packed); i++ {
		p := &n.packed[i]
		if p.single {
			if hasVector && vectorDot != nil {
				return p.b[0] + vectorDot(x[:len(p.w)], p.w)
			}
			return p.b[0] + leakyDot(x[:len(p.w)], p.w)
		}
		y := n.hidden[i&1][:p.wide]
		copy(y, p.b)
		if hasVector && vectorAdd != nil {
			vectorAdd(y, x[:p.in], p.w, 1, p.in, p.in, p.wide)
		} else {
			for k, v := range x[:p.in] {
				for o, w := range p.w[k*p.wide:][:len(y)] {
					y[o] += float32(v * w)
				}
			}
		}
		if x = y; i+2 < len(n.packed) {
			leak(x, 0, p.out, 1)
		}
	}
	return x[0]
}

func (f *Fixed) change() {
	for i := range f.more {
		f.more[i] = 0
	}
	changes(f.more, f.x, f.last, f.w.pairs, f.list)
	for i, v := range f.more {
		low := int32(v)
		f.h[2*i] = f.from[2*i] + low
		f.h[2*i+1] = f.from[2*i+1] + int32((v-uint64(int64(low)))>>32)
	}
}

// times is the greatest multiple of a weight that changes finds in memory, multiples how many there are.
const (
	times     = 3
	multiples = 2*times + 1
)

// changes adds (x - last)·pairs to dst, four multiples at a time. list is memory as long as x.
func changes(dst []uint64, x, last []int32, pairs []uint64, list []int) {
	const none = times // where multiple 0 of the first weights is
	var at [4]int
	n := 0
	for i, v := range x { // without branches, which could not be predicted
		list[n] = i
		d := v - last[i]
		n += int(uint32(d|-d) >> 31)
	}
	list, n = list[:n], 0
	for _, i := range list {
		d := int(x[i] - last[i])
		if d > 8*times || d < -8*times {
			one := pairs[(i*multiples+times+1)*len(dst):][:len(dst)]
			for j, w := range one {
				dst[j] += uint64(d) * w
			}
			continue
		}
		for d != 0 {
			k := max(min(d, times), -times)
			d -= k
			at[n] = i*multiples + times + k
			if n++; n == len(at) {
				addFour(dst, &at, pairs)
				n = 0
			}
		}
	}
	if n > 0 {
		for ; n < len(at); n++ {
			at[n] = none
		}
		addFour(dst, &at, pairs)
	}
}

func addFour(dst []uint64, at *[4]int, pairs []uint64) {
	n := len(dst)
	a, b := pairs[at[0]*n:][:len(dst)], pairs[at[1]*n:][:len(dst)]
	c, e := pairs[at[2]*n:][:len(dst)], pairs[at[3]*n:][:len(dst)]
	for j := range dst {
		dst[j] += a[j] + b[j] + c[j] + e[j]
	}
}
