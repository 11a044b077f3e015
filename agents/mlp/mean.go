package mlp

import (
	"errors"
	"fmt"
)

// Mean returns one network whose output is the mean of the outputs of nets. They have one hidden layer and one output
// each, and the same inputs. The result has the hidden units of all of them, in order.
//
// Errors that networks do not share cancel out in the mean, so that it is a better judge than each of them.
func Mean(nets []*Net) (*Net, error) {
	if len(nets) == 0 {
		return nil, errors.New("the mean of no networks: want at least one")
	}
	in := nets[0].In()
	hidden, last := Layer{In: in}, Layer{Out: 1, B: []float32{0}}
	for i, n := range nets {
		l := n.Layers()
		if len(l) != 2 || l[0].In != in || l[1].Out != 1 {
			return nil, fmt.Errorf("network %d of %d: want one hidden layer, %d inputs and one output, as the mean needs",
				i+1, len(nets), in)
		}
		share := 1 / float32(len(nets))
		hidden.W, hidden.B = append(hidden.W, l[0].W...), append(hidden.B, l[0].B...)
		for _, w := range l[1].W {
			last.W = append(last.W, share*w)
		}
		last.B[0] += float32(share * l[1].B[0])
	}
	hidden.Out = len(hidden.B)
	last.In = hidden.Out
	return New([]Layer{hidden, last})
}
