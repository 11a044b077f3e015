package submit

import (
	"encoding/base64"
	"fmt"

	"blockyard/agents/mlp"
	"blockyard/agents/submit/programs/netpack"
)

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

// fitting says how many hidden units fit into room characters.
func fitting(net *mlp.Net, room int) string {
	rounded := fmt.Sprintf("at most %d hidden units", units(net, room, fewestBits))
	if n := len(net.Layers()) - 1; n > 1 {
		rounded += fmt.Sprintf(" in each of %d layers", n)
	}
	return fmt.Sprintf("%s, or %d for exact weights", rounded, units(net, room, netpack.Exact))
}
