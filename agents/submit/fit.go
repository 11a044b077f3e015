package submit

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"blockyard/agents/mlp"
	"blockyard/agents/submit/flatten"
	"blockyard/agents/submit/programs/netpack"
)

// fewestBits is the least that rounding leaves of a weight: 1 bit of sign, 8 of exponent, 4 of mantissa.
const fewestBits = 13

// A file keeps spare characters free for changes of the code, as long as its weights have more than fewestBits.
const spare = 5000

// fill puts the network into the flattened program, with as many bits per weight as fit into the room.
func (b Bot) fill(src string) (*File, error) {
	f := &File{Source: []byte(src)}
	if b.Net != nil {
		all := textLen(widths(b.Net), netpack.Exact)
		f.Source = b.with(src, netpack.Exact)
		f.Room = MaxChars - (len(f.Source) - all)
		f.Bits = min(netpack.Exact, netpack.Exact*f.Room/all+1) // the first tries may be a few characters too long
		for len(f.Source) > MaxChars || f.Bits > fewestBits && len(f.Source) > MaxChars-spare {
			if f.Bits--; f.Bits < fewestBits {
				return nil, fmt.Errorf("the network takes %d characters with all its bits and %d with %d bits per weight, "+
					"but %d characters of code leave %d: train one with %s", all, textLen(widths(b.Net), fewestBits),
					fewestBits, MaxChars-f.Room, f.Room, fitting(b.Net, f.Room))
			}
			f.Source = b.with(src, f.Bits)
		}
	}
	if n := utf8.RuneCount(f.Source); n > MaxChars {
		return nil, fmt.Errorf("%d characters, %d more than the limit of %d (%s)",
			n, n-MaxChars, MaxChars, flatten.Sizes(f.Source))
	}
	return f, nil
}

// with returns a program with the network in so many bits per weight.
func (b Bot) with(src string, bits int) []byte {
	text, _ := netpack.Encode(b.Net, bits) // the numbers of bits that are tried are valid
	name := fmt.Sprintf("net %s, %d bits a weight", Hash(b.Net), bits)
	return []byte(strings.NewReplacer(textMark, text, headerMark, name).Replace(src))
}

// Hash identifies a network by its weights.
func Hash(net *mlp.Net) string {
	text, _ := netpack.Encode(net, netpack.Exact)
	return fmt.Sprintf("%.6x", sha256.Sum256([]byte(text)))
}

// widths are the number of inputs of net and the number of outputs of each of its layers.
func widths(net *mlp.Net) []int {
	all := []int{net.In()}
	for _, l := range net.Layers() {
		all = append(all, l.Out)
	}
	return all
}

// textLen is the length of what netpack.Encode writes for a network of these widths.
func textLen(widths []int, bits int) int {
	weights, head := 0, fmt.Sprint(bits)
	for i, in := range widths[:len(widths)-1] {
		weights += (in + 1) * widths[i+1]
		head += fmt.Sprintf(" %d %d", in, widths[i+1])
	}
	n := base64.RawStdEncoding.EncodedLen((weights*bits + 7) / 8)
	return len(head) + 1 + n + max(0, n-1)/netpack.LineLen
}

// units is the largest number of hidden units per layer with which a network of as many inputs, layers and outputs as
// net fits into room characters, less spare if weights have more than fewestBits. It is 0 if none fits, or if net has
// no hidden layer.
func units(net *mlp.Net, room, bits int) int {
	all := widths(net)
	if len(all) < 3 {
		return 0
	}
	if bits > fewestBits {
		room -= spare
	}
	for most := 1; ; most++ {
		for i := range all[1 : len(all)-1] {
			all[i+1] = most
		}
		if textLen(all, bits) > room {
			return most - 1
		}
	}
}

func fitting(net *mlp.Net, room int) string {
	rounded := fmt.Sprintf("at most %d hidden units", units(net, room, fewestBits))
	if n := len(net.Layers()) - 1; n > 1 {
		rounded += fmt.Sprintf(" in each of %d layers", n)
	}
	return fmt.Sprintf("%s, or %d for exact weights", rounded, units(net, room, netpack.Exact))
}
