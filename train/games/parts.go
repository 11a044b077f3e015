package games

import (
	"fmt"
	"strconv"
	"strings"
)

// mirrorColumns makes a Mirror for features named "… height X", "… step X" (the signed step from column X-1 to X) and
// "… step size X", and for pairs of features that change places. All others are the same on both sides.
func mirrorColumns(names []string, width int, pairs ...[2]string) func([]float32) {
	index := map[string]int{}
	for i, n := range names {
		index[n] = i
	}
	from, sign := make([]int, len(names)), make([]float32, len(names))
	for i, n := range names {
		from[i], sign[i] = i, 1
		cut := strings.LastIndexByte(n, ' ')
		if cut < 0 {
			continue
		}
		x, err := strconv.Atoi(n[cut+1:])
		if err != nil {
			continue
		}
		switch what := n[:cut]; {
		case strings.HasSuffix(what, " height"):
			from[i] = index[fmt.Sprintf("%s %d", what, width-1-x)]
		case strings.HasSuffix(what, " step"):
			from[i], sign[i] = index[fmt.Sprintf("%s %d", what, width-x)], -1
		case strings.HasSuffix(what, " step size"):
			from[i] = index[fmt.Sprintf("%s %d", what, width-x)]
		}
	}
	for _, p := range pairs {
		from[index[p[0]]], from[index[p[1]]] = index[p[1]], index[p[0]]
	}
	return func(row []float32) {
		for i, j := range from { // pairs change places
			if j < i {
				row[i], row[j] = sign[i]*row[j], sign[j]*row[i]
			} else if j == i {
				row[i] *= sign[i]
			}
		}
	}
}
