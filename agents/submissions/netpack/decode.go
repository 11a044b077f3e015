package netpack

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"blockyard/agents/mlp"
)

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
	r := reader{text: text[end+1:], bits: uint(sizes[0])}
	var layers []mlp.Layer
	total := 0
	for i := 1; i < len(sizes); i += 2 {
		l := mlp.Layer{In: sizes[i], Out: sizes[i+1]}
		if total += (l.In + 1) * l.Out; l.In > most/l.Out || total > most || total*sizes[0]/6 > len(text) {
			return nil, fmt.Errorf("netpack: %d weights are more than there are", total)
		}
		l.W, l.B = r.take(l.In*l.Out), r.take(l.Out)
		layers = append(layers, l)
	}
	if r.err == nil && strings.Trim(r.text, "\n") != "" {
		r.err = errors.New("netpack: something follows the last weight")
	}
	if r.err != nil {
		return nil, r.err
	}
	return mlp.New(layers)
}

type reader struct {
	text string
	bits uint
	hold uint64
	held uint
	err  error
}

func (r *reader) take(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		for r.held < r.bits {
			r.hold = r.hold<<6 | r.sixBits()
			r.held += 6
		}
		r.held -= r.bits
		out[i] = math.Float32frombits(uint32(r.hold>>r.held) & (1<<r.bits - 1) << (Exact - r.bits))
	}
	return out
}

func (r *reader) sixBits() uint64 {
	for len(r.text) > 0 {
		c := r.text[0]
		r.text = r.text[1:]
		if c == '\n' {
			continue
		}
		if v := strings.IndexByte(alphabet, c); v >= 0 {
			return uint64(v)
		}
		if r.err == nil {
			r.err = fmt.Errorf("netpack: character %q", c)
		}
		return 0
	}
	if r.err == nil {
		r.err = errors.New("netpack: the text ends too early")
	}
	return 0
}
