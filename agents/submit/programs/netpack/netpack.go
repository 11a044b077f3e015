// Package netpack encodes a value network as text that fits into a source file, and decodes it. The text is base64 of
// the leading bits of every weight:
//
//	24 122 64 64 1
//	<RFC 4648, standard alphabet, without padding, in lines of 120 characters>
//
// The first line holds the number of bits per weight (1 sign, 8 exponent, the rest mantissa), then the inputs and
// outputs of every layer. The weights follow layer by layer, most significant bit first: the matrix row by row, then
// the biases.
package netpack

import (
	"encoding/base64"
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

// LineLen is the number of characters per line of base64.
const LineLen = 120

// Round rounds x to the nearest number with the given number of leading bits. A number that would become infinite is
// truncated instead. Rounding a rounded number does not change it.
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
	var out strings.Builder
	fmt.Fprint(&out, bits)
	var data []byte
	var hold uint64 // its last held bits are not in data yet
	held := 0
	for _, l := range net.Layers() {
		fmt.Fprintf(&out, " %d %d", l.In, l.Out)
		for _, xs := range [][]float32{l.W, l.B} {
			for _, x := range xs {
				hold = hold<<bits | uint64(math.Float32bits(Round(x, bits))>>(Exact-bits))
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
			out[i] = math.Float32frombits(uint32(hold>>held) & (1<<bits - 1) << (Exact - bits))
		}
		return out
	}
	for i := 1; i < len(sizes); i += 2 {
		in, out := sizes[i], sizes[i+1]
		layers = append(layers, mlp.Layer{In: in, Out: out, W: take(in * out), B: take(out)})
	}
	return layers
}
