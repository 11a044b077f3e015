// Package netpack encodes a value network as text that fits into a source file, and decodes it. The text is base64 of
// rounded weights:
//
//	12  96 122 64 64 1
//	<RFC 4648, standard alphabet, without padding, in lines of 120 characters>
//
// The first line holds the number of bits per weight, the binary exponent of the scale, then the inputs and outputs of
// every layer. The weights follow layer by layer, most significant bit first: the matrix row by row, then the biases.
// A weight is 1 bit of sign, 5 of exponent and the rest of mantissa, like the last of a float32 without the first 3 of
// its exponent, times 2 to the power of the scale. The scale is such that the largest weight has the largest exponent;
// those below a 2^30th of it are multiples of the smallest number, as float32 has them too.
package netpack

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/mlp"
)

// Bits per weight: Exact keeps all that a float32 has, but of weights below a 2^30th of the largest; Fewest is the
// least that Encode accepts.
const (
	Exact  = 1 + size
	Fewest = 9
)

// size is the number of bits without the sign: 5 of exponent and 23 of mantissa.
const size = 28

// LineLen is the number of characters per line of base64.
const LineLen = 120

// round returns the leading bits of x times 2 to the power of -scale, rounded to the nearest. A number that would
// become too large is truncated instead. Rounding a rounded number does not change it.
func round(x float32, scale, bits int) uint64 {
	b := math.Float32bits(float32(math.Ldexp(float64(x), -scale)))
	sign, rest, drop := b>>31, b&^(1<<31), Exact-bits
	if drop > 0 {
		if up := rest + 1<<(drop-1); up>>size == 0 {
			rest = up
		}
	}
	return uint64(sign<<(bits-1) | rest>>drop)
}

// scaleOf returns the binary exponent by which the largest weight has the largest exponent of 5 bits.
func scaleOf(net *mlp.Net) int {
	largest := float32(0)
	for _, l := range net.Layers() {
		for _, x := range slices.Concat(l.W, l.B) {
			largest = max(largest, x, -x)
		}
	}
	const bias, one = 127, 1 // of a float32, and of Frexp's exponent
	_, e := math.Frexp(float64(largest))
	return e - one + bias - (1<<5 - 1)
}

// Encode returns the text of a network with the given number of bits per weight.
func Encode(net *mlp.Net, bits int) (string, error) {
	if bits < Fewest || bits > Exact {
		return "", fmt.Errorf("netpack: %d bits per weight, want %d to %d", bits, Fewest, Exact)
	}
	var out strings.Builder
	scale := scaleOf(net)
	fmt.Fprintf(&out, "%d %3d", bits, scale)
	var data []byte
	var hold uint64 // its last held bits are not in data yet
	held := 0
	for _, l := range net.Layers() {
		fmt.Fprintf(&out, " %d %d", l.In, l.Out)
		for _, xs := range [][]float32{l.W, l.B} {
			for _, x := range xs {
				hold = hold<<bits | round(x, scale, bits)
				for held += bits; held >= 8; {
					held -= 8
					data = append(data, byte(hold>>held))
				}
			}
		}
	}
	if held > 0 {
		data = append(data, byte(hold<<(8-held)))
	}
	out.WriteByte('\n')
	text := base64.RawStdEncoding.EncodeToString(data)
	for ; len(text) > LineLen; text = text[LineLen:] {
		out.WriteString(text[:LineLen] + "\n")
	}
	return out.String() + text, nil
}

// Trusted returns the network that Encode wrote, without checks, which would make a one-file bot longer. Another text
// gives a useless network or a panic.
func Trusted(text string) *mlp.Net {
	lines := strings.SplitN(text, "\n", 2)
	var sizes []int
	for _, word := range strings.Fields(lines[0]) {
		n, _ := strconv.Atoi(word)
		sizes = append(sizes, n)
	}
	data, _ := base64.RawStdEncoding.DecodeString(lines[len(lines)-1]) // line feeds are skipped
	return mlp.Trusted(unpack(sizes, data))
}

// unpack takes the weights of every layer from data.
func unpack(sizes []int, data []byte) (layers []mlp.Layer) {
	bits := uint(sizes[0])
	hold, held := uint64(0), uint(0) // the last held bits of hold are not part of a weight yet
	take := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			for ; held < bits; held += 8 {
				hold = hold<<8 | uint64(data[0])
				data = data[1:]
			}
			held -= bits
			w := uint32(hold>>held) & (1<<bits - 1)
			w = w>>(bits-1)<<31 | w<<(32-bits+1)>>(32-size)
			out[i] = float32(math.Ldexp(float64(math.Float32frombits(w)), sizes[1]))
		}
		return out
	}
	for i := 2; i < len(sizes); i += 2 {
		in, out := sizes[i], sizes[i+1]
		layers = append(layers, mlp.Layer{In: in, Out: out, W: take(in * out), B: take(out)})
	}
	return layers
}
