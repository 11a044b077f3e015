// Package netpack encodes a value network as text that fits into a source file, and decodes it.
// The text is base64 of the leading bits of every weight:
//
//	24 122 64 64 1
//	<6 bits per character, most significant first, with the 64 characters of RFC 4648>
//
// The first line holds the number of bits per weight (1 sign, 8 exponent, the rest mantissa), then the
// inputs and outputs of every layer. The weights follow layer by layer: the matrix row by row,
// then the biases. Line feeds between them have no meaning.
package netpack

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"blockyard/agents/mlp"
)

// Bits per weight: Exact keeps every weight unchanged, Fewest is the least that Encode accepts.
const (
	Exact  = 32
	Fewest = 12
)

const (
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	width    = 120     // characters per line
	most     = 1 << 22 // weights a text can hold
)

// Round rounds x to the nearest number with the given number of leading bits. A number that would become
// infinite is truncated instead. Rounding a rounded number does not change it.
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

// Encode returns the text of a network with the given number of bits per weight.
func Encode(net *mlp.Net, bits int) (string, error) {
	if bits < Fewest || bits > Exact {
		return "", fmt.Errorf("netpack: %d bits per weight, want %d to %d", bits, Fewest, Exact)
	}
	head := strconv.Itoa(bits)
	p := packer{bits: uint(bits)}
	for _, l := range net.Layers() {
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
	hold uint64 // the last held bits of it are not yet written
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
