// Package netpack writes a value net as text that fits into a source file, and reads it
// back: base64 of the weights' leading bits.
//
//	24 122 64 64 1
//	<6 bits a character, most significant first, 64 characters of RFC 4648>
//
// The first line is bits per weight (1 sign, 8 exponent, the rest mantissa), then inputs
// and outputs of every layer; the numbers follow layer by layer, weights row by row, then
// biases. Line feeds among them mean nothing.
package netpack

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"blockyard/agents/mlp"
)

// Exact is how many bits keep a weight as it is; Fewest is the least that makes sense.
const (
	Exact  = 32
	Fewest = 12
)

const (
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	width    = 120     // characters a line
	most     = 1 << 22 // weights a text can hold
)

// Round returns x with its leading bits alone, rounded to the nearest; rounding what is
// rounded changes nothing. A number that would become infinite is cut off instead.
func Round(x float32, bits int) float32 {
	drop := uint(Exact - bits)
	if drop == 0 {
		return x
	}
	b := math.Float32bits(x)
	up := b + 1<<(drop-1)
	if up>>23&0xFF == 0xFF {
		up = b
	}
	return math.Float32frombits(up >> drop << drop)
}

// Text writes layers with bits bits a weight.
func Text(layers []mlp.Layer, bits int) (string, error) {
	if bits < Fewest || bits > Exact {
		return "", fmt.Errorf("netpack: %d bits a weight, want %d to %d", bits, Fewest, Exact)
	}
	head := strconv.Itoa(bits)
	p := packer{bits: uint(bits)}
	for _, l := range layers {
		head += fmt.Sprintf(" %d %d", l.In, l.Out)
		p.add(l.W)
		p.add(l.B)
	}
	p.flush()
	return head + "\n" + p.out.String(), nil
}

type packer struct {
	out  strings.Builder
	bits uint
	hold uint64 // bits not yet written, held of them
	held uint
	n    int // characters written
}

func (p *packer) add(xs []float32) {
	for _, x := range xs {
		p.hold = p.hold<<p.bits | uint64(math.Float32bits(Round(x, int(p.bits)))>>(Exact-p.bits))
		p.held += p.bits
		for p.held >= 6 {
			p.held -= 6
			p.put(p.hold >> p.held & 63)
		}
	}
}

func (p *packer) put(v uint64) {
	if p.n > 0 && p.n%width == 0 {
		p.out.WriteByte('\n')
	}
	p.out.WriteByte(alphabet[v])
	p.n++
}

func (p *packer) flush() {
	if p.held > 0 {
		p.put(p.hold << (6 - p.held) & 63)
	}
}
