package netpack

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"blockyard/agents/mlp"
)

// most is the greatest number of weights that a text can hold.
const most = 1 << 22

// Decode returns the network that Encode wrote.
func Decode(text string) (*mlp.Net, error) {
	end := strings.IndexByte(text, '\n')
	if end < 0 {
		return nil, errors.New("netpack: no first line")
	}
	var sizes []int
	for _, word := range strings.Fields(text[:end]) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > most {
			return nil, fmt.Errorf("netpack: size %q", word)
		}
		sizes = append(sizes, n)
	}
	if len(sizes) < 3 || len(sizes)%2 == 0 || sizes[0] < Fewest || sizes[0] > Exact {
		return nil, fmt.Errorf("netpack: first line %.60q", text[:end])
	}
	data, err := base64.RawStdEncoding.DecodeString(text[end+1:]) // line feeds are skipped
	if err != nil {
		return nil, fmt.Errorf("netpack: %w", err)
	}
	r := reader{data: data, bits: uint(sizes[0])}
	var layers []mlp.Layer
	for i := 1; i < len(sizes); i += 2 {
		l := mlp.Layer{In: sizes[i], Out: sizes[i+1]}
		if l.In > most/l.Out || (l.In+1)*l.Out*sizes[0] > 8*len(r.data)+int(r.held) {
			return nil, fmt.Errorf("netpack: the text ends before layer %d", len(layers)+1)
		}
		l.W, l.B = r.take(l.In*l.Out), r.take(l.Out)
		layers = append(layers, l)
	}
	if len(r.data) > 0 {
		return nil, errors.New("netpack: something follows the last weight")
	}
	return mlp.New(layers)
}

// A reader takes weights from the front of data.
type reader struct {
	data []byte
	bits uint
	hold uint64 // its last held bits are taken from data, but not part of a weight yet
	held uint
}

func (r *reader) take(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		for r.held < r.bits {
			r.hold = r.hold<<8 | uint64(r.data[0])
			r.data = r.data[1:]
			r.held += 8
		}
		r.held -= r.bits
		out[i] = math.Float32frombits(uint32(r.hold>>r.held) & (1<<r.bits - 1) << (Exact - r.bits))
	}
	return out
}
