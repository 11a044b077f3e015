package export

import "blockyard/env"

// CellBits is how many bits of a packed board a cell of g takes: 1, 2, 4 or 8.
func CellBits(g *env.Game) int {
	switch {
	case g.PlaneMax < 2:
		return 1
	case g.PlaneMax < 4:
		return 2
	case g.PlaneMax < 16:
		return 4
	}
	return 8
}

// PackedLen is how many bytes the packed planes of g take.
func PackedLen(g *env.Game) int { return (g.Planes.Len()*CellBits(g) + 7) / 8 }

// pack writes cells with so many bits each, the lowest bits of a byte first.
func pack(dst, cells []uint8, bits int) {
	clear(dst)
	per := 8 / bits
	for k, c := range cells {
		dst[k/per] |= c << (k % per * bits)
	}
}
