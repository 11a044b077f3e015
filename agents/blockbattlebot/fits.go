package blockbattlebot

import (
	"math/bits"

	"blockyard/agents/features"
)

// fitLen is how many features describe which pieces the surface is ready for.
const fitLen = 13

// fitNames appends their names: in how many places each piece fits, and for all but the I
// whether it fits nowhere.
func fitNames(names []string) []string {
	names = append(names, "own I flat")
	const others = "OSZTJL"
	for _, piece := range others {
		names = append(names, "own "+string(piece)+" fits")
	}
	for _, piece := range others {
		names = append(names, "own no "+string(piece))
	}
	return names
}

// fits writes the fitLen features. A piece fits where it comes to rest on the tops of the
// columns below it with no empty cell under it, whatever the room above; the I counts
// lying only, for it always fits upright. Places past the fourth do not count.
func (s *shape) fits(out []float32) {
	var flat, up, down, up2, down2 uint // bit x: the step from column x to the next
	for x := 0; x+1 < columns; x++ {
		bit := uint(1) << uint(x)
		switch s.top[x] - s.top[x+1] {
		case 0:
			flat |= bit
		case 1:
			up |= bit
		case -1:
			down |= bit
		case 2:
			up2 |= bit
		case -2:
			down2 |= bit
		}
	}
	level := flat & (flat >> 1)
	counts := [7]int{
		bits.OnesCount(level & (flat >> 2)),
		bits.OnesCount(flat),
		bits.OnesCount(flat&(up>>1)) + bits.OnesCount(down),
		bits.OnesCount(down&(flat>>1)) + bits.OnesCount(up),
		bits.OnesCount(level) + bits.OnesCount(down&(up>>1)) + bits.OnesCount(up|down),
		bits.OnesCount(level) + bits.OnesCount(flat&(down>>1)) + bits.OnesCount(up2|flat),
		bits.OnesCount(level) + bits.OnesCount(up&(flat>>1)) + bits.OnesCount(flat|down2),
	}
	for i, n := range counts {
		if i > 0 {
			out[6+i] = features.Yes(n == 0)
		}
		if n > 4 {
			n = 4
		}
		out[i] = float32(n) * (1. / 2)
	}
}
